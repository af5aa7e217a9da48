// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs asynchronous tests one after the other and reports them as TAP, one point for each.

import GLib from 'gi://GLib?version=2.0';
import System from 'system';

const DEADLINE_S = 30;

export function assert(condition, what) {
    if (!condition)
        throw new Error(what ?? 'assertion failed');
}

export function assertEqual(actual, expected) {
    const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (a !== b)
        throw new Error(`${a} is not ${b}`);
}

// Awaits a promise, or a function, that must fail in that way.
export async function assertFails(domain, code, promise) {
    let value;
    try {
        value = await (typeof promise === 'function' ? promise() : promise);
    } catch (error) {
        if (!(error instanceof GLib.Error) || !error.matches(domain, code))
            throw new Error(`wrong error: ${error}`);
        return error;
    }
    throw new Error(`no error but ${value}`);
}

// Resolves when the condition holds, which is looked at after everything that happens.
export function until(condition) {
    return new Promise((resolve, reject) => {
        const end = GLib.get_monotonic_time() + DEADLINE_S * 1000000;
        GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
            if (condition())
                resolve();
            else if (GLib.get_monotonic_time() > end)
                reject(new Error(`nothing happened in ${DEADLINE_S} s`));
            else
                return GLib.SOURCE_CONTINUE;
            return GLib.SOURCE_REMOVE;
        });
    });
}

export function run(tests) {
    const loop = new GLib.MainLoop(null, false);
    let count = 0;
    let failed = false;

    async function runAll() {
        const entries = Object.entries(tests);
        print(`1..${entries.length}`);
        for (const [name, test] of entries) {
            count++;
            try {
                await test();
                print(`ok ${count} - ${name}`);
            } catch (error) {
                failed = true;
                print(`not ok ${count} - ${name}`);
                print(`# ${error}\n# ${(error.stack ?? '').split('\n').join('\n# ')}`);
            }
        }
    }

    runAll().finally(() => loop.quit());
    loop.run();
    System.exit(failed ? 1 : 0);
}
