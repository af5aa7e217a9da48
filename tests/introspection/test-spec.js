// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Specs, reaches and sets of providers from JavaScript, and the providers' own say in their settings.

import Gio from 'gi://Gio?version=2.0';
import GLib from 'gi://GLib?version=2.0';
import GObject from 'gi://GObject?version=2.0';
import Sbx from 'gi://Sbx?version=1';

import {assert, assertEqual, assertFails, run} from './tap.js';

Gio._promisify(Sbx.Resolver.prototype, 'resolve_async', 'resolve_finish');

const SBX_ERROR = Sbx.error_quark();
const text = bytes => new TextDecoder().decode(bytes.toArray());
const specOf = fields =>
    Sbx.SandboxSpec.new_from_json(new GLib.Bytes(new TextEncoder().encode(JSON.stringify(fields))));

// Has one setting, which is checked as the manual shows it.
const ImageProvider = GObject.registerClass({
    Implements: [Sbx.Provider],
}, class ImageProvider extends GObject.Object {
    vfunc_check_settings(settings) {
        const {image = 'debian', ...others} = JSON.parse(settings);
        for (const name in others)
            throw new GLib.Error(SBX_ERROR, Sbx.Error.INVALID, `there is no setting “${name}”; write image`);
        if (image === 'nothing')
            return null;
        return JSON.stringify({image}, null, 2);
    }
});

// Does not know of settings.
const PlainProvider = GObject.registerClass({
    Implements: [Sbx.Provider],
}, class PlainProvider extends GObject.Object {
});

function makeProviders() {
    const providers = new Sbx.ProviderSet();
    providers.add('image', new ImageProvider());
    providers.add('plain', new PlainProvider());
    providers.add_unavailable('broken', 'its daemon does not answer');
    providers.set_default('image');
    return providers;
}

async function resolve(spec) {
    const home = GLib.Dir.make_tmp('sbx-spec-XXXXXX');
    try {
        const resolver = Sbx.Resolver.new(makeProviders());
        resolver.home = home;
        GLib.mkdir_with_parents(`${home}/work`, 0o700);
        return await resolver.resolve_async(spec, `${home}/work`, Sbx.ResolveFlags.NONE, null);
    } finally {
        GLib.rmdir(`${home}/work`);
        GLib.rmdir(home);
    }
}

async function assertSays(code, parts, what) {
    const error = await assertFails(SBX_ERROR, code, what);
    for (const part of parts)
        assert(error.message.includes(part), `“${part}” is not in: ${error.message}`);
}

run({
    builder() {
        const spec = new Sbx.SandboxSpec();
        spec.set_key('build');
        spec.add_read('~/notes');
        spec.add_write('.');
        spec.add_domain('*.example.org');
        spec.set_git_mode(Sbx.GitMode.NONE);
        spec.set_limit(Sbx.Limit.PROCESSES, 20);
        spec.set_limit_from_text('memory', '512M');
        spec.set_environment_key('image', '{"image": "fedora"}');

        assertEqual(spec.get_write(), ['.']);
        assertEqual(JSON.parse(text(spec.to_json())), {
            key: 'build', read: ['~/notes'], write: ['.'], network: ['*.example.org'], git: 'none',
            limits: {memory: 536870912, processes: 20}, image: {image: 'fedora'},
        });
        assert(spec.equal(Sbx.SandboxSpec.new_from_json(spec.to_json())));
    },

    async refused() {
        for (const [fields, parts] of [
            [{read: 'src'}, ['read must be a list', '"src"']],
            [{network: ['0x7f000001']}, ['"0x7f000001" is not a sandbox domain']],
            [null, ['must be an object, not null']],
        ])
            await assertSays(Sbx.Error.INVALID, parts, () => specOf(fields));
    },

    async settings() {
        let reach = await resolve(specOf({}));
        assertEqual([reach.get_environment_key(), reach.get_settings()], ['image', '{"image":"debian"}']);
        reach = await resolve(specOf({image: {image: 'é'}}));
        assertEqual(reach.get_settings(), '{"image":"é"}');
    },

    async settingsRefused() {
        for (const [fields, code, parts] of [
            [{image: {tag: 1}}, Sbx.Error.INVALID, ['image: there is no setting “tag”']],
            [{image: {image: 'nothing'}}, Sbx.Error.FAILED, ['image: ', 'gave back none']],
            [{plain: {tag: 1}}, Sbx.Error.INVALID, ['plain: ', 'takes no settings']],
            [{broken: {}}, Sbx.Error.NOT_ENFORCEABLE, ['“broken”', 'does not answer']],
            [{vm: {}}, Sbx.Error.INVALID, ['Unknown field "vm"', 'broken, image, plain']],
            [{image: {}, plain: {}}, Sbx.Error.INVALID, ['image and plain']],
        ])
            await assertSays(code, parts, () => resolve(specOf(fields)));
    },

    async providerSet() {
        const providers = makeProviders();
        assertEqual(providers.list_keys(), ['broken', 'image', 'plain']);
        assert(providers.lookup(null) instanceof ImageProvider);
        assert(providers.lookup('plain') instanceof PlainProvider);
        providers.set_default(null);
        await assertSays(Sbx.Error.NOT_FOUND, ['“image”, “plain”'], () => providers.lookup(null));
        assertEqual(new PlainProvider().check_settings(' {} '), '{}');
    },

    async reach() {
        const reach = new Sbx.Reach();
        reach.add_read('/a');
        reach.set_variable('NAME', 'value');
        const again = Sbx.Reach.new_from_json(reach.to_json());
        assert(reach.equal(again) && !again.is_resolved());
        assertEqual(JSON.parse(text(reach.to_json())), {read: ['/a'], variables: {NAME: 'value'}});
        reach.set_variable('A=B', 'value');
        await assertSays(Sbx.Error.INVALID, ['“A=B”'], () => reach.to_json());
    },
});
