#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Specs, reaches and sets of providers from Python, and the providers' own say in their settings."""

import json
import os
import tempfile
import unittest

import gi

gi.require_version("Sbx", "1")
from gi.repository import GLib, GObject, Sbx

import tap


class ImageProvider(GObject.Object, Sbx.Provider):
    """Has one setting, which is checked as the manual shows it."""

    def do_check_settings(self, settings):
        settings = json.loads(settings)
        for name in settings:
            if name != "image":
                raise GLib.Error.new_literal(Sbx.error_quark(),
                                             f"there is no setting “{name}”; write image",
                                             Sbx.Error.INVALID)
        if settings.get("image") == "trouble":
            raise ValueError("an exception that is no GLib.Error")
        return json.dumps({"image": settings.get("image", "debian")}, indent=2)


class PlainProvider(GObject.Object, Sbx.Provider):
    """Does not know of settings."""


def spec_of(**fields):
    return Sbx.SandboxSpec.new_from_json(GLib.Bytes.new(json.dumps(fields).encode()))


def loads(gbytes):
    return json.loads(gbytes.get_data())


class Specs(unittest.TestCase):
    def assert_fails(self, code, parts, function, *args):
        with self.assertRaises(GLib.Error) as caught:
            function(*args)
        self.assertTrue(caught.exception.matches(Sbx.error_quark(), code), caught.exception)
        for part in parts:
            self.assertIn(part, caught.exception.message)

    def make_providers(self):
        providers = Sbx.ProviderSet.new()
        providers.add("image", ImageProvider())
        providers.add("plain", PlainProvider())
        providers.add_unavailable("broken", "its daemon does not answer")
        providers.set_default("image")
        return providers

    def resolve(self, spec, providers=None):
        with tempfile.TemporaryDirectory() as home:
            work = os.path.join(home, "work")
            os.mkdir(work)
            resolver = Sbx.Resolver.new(providers or self.make_providers())
            resolver.set_property("home", home)
            return resolver.resolve(spec, work, Sbx.ResolveFlags.NONE, None)

    def test_builder(self):
        spec = Sbx.SandboxSpec.new()
        spec.set_key("build")
        spec.set_cwd("~/src")
        spec.add_read("~/notes")
        spec.add_read("~/notes")
        spec.add_write(".")
        spec.add_domain("*.example.org")
        spec.add_socket("/run/s")
        spec.set_web_search(True)
        spec.set_git_mode(Sbx.GitMode.COMMIT)
        spec.set_limit(Sbx.Limit.PROCESSES, 20)
        spec.set_limit_from_text("memory", "512M")
        spec.set_environment_key("image", '{"image": "fedora"}')

        self.assertEqual(spec.get_read(), ["~/notes"])
        self.assertEqual(spec.get_limit(Sbx.Limit.MEMORY), 512 * 1024 * 1024)
        written = spec.to_json()
        self.assertEqual(loads(written), {
            "key": "build", "cwd": "~/src", "read": ["~/notes"], "write": ["."],
            "network": ["*.example.org"], "sockets": ["/run/s"], "webSearch": True, "git": "commit",
            "limits": {"memory": 512 * 1024 * 1024, "processes": 20},
            "image": {"image": "fedora"},
        })
        self.assertTrue(spec.equal(Sbx.SandboxSpec.new_from_json(written)))

    def test_refused(self):
        for fields, parts in (
                ({"read": "src"}, ["read must be a list", '"src"']),
                ({"network": ["*.com"]}, ['"*.com" is not a sandbox domain']),
                ({"limits": {"disk": 1}}, ['"disk"', "memory"]),
                ({"git": "all"}, ['"all"', '"commit"']),
        ):
            with self.subTest(fields=fields):
                self.assert_fails(Sbx.Error.INVALID, parts, lambda f=fields: spec_of(**f))
        self.assert_fails(Sbx.Error.INVALID, ["limits", '"1X"'],
                          Sbx.SandboxSpec.new().set_limit_from_text, "memory", "1X")

    def test_settings(self):
        reach = self.resolve(spec_of())
        self.assertEqual((reach.get_environment_key(), reach.get_settings()),
                         ("image", '{"image":"debian"}'))
        reach = self.resolve(spec_of(image={"image": "é"}))
        self.assertEqual(reach.get_settings(), '{"image":"é"}')

    def test_settings_refused(self):
        for fields, code, parts in (
                ({"image": {"tag": 1}}, Sbx.Error.INVALID, ["image: there is no setting “tag”"]),
                ({"plain": {"tag": 1}}, Sbx.Error.INVALID, ["plain: ", "takes no settings"]),
                ({"image": 1}, Sbx.Error.INVALID, ["image: ", "must be an object, not 1"]),
                ({"broken": {}}, Sbx.Error.NOT_ENFORCEABLE, ["“broken”", "does not answer"]),
                ({"bwrap": {}}, Sbx.Error.NOT_FOUND, ["“bwrap” is not installed"]),
                ({"vm": {}}, Sbx.Error.INVALID, ['Unknown field "vm"', "broken, image, plain"]),
                ({"image": {}, "plain": {}}, Sbx.Error.INVALID, ["image and plain"]),
        ):
            with self.subTest(fields=fields):
                self.assert_fails(code, parts, self.resolve, spec_of(**fields))

    def test_provider_directly(self):
        self.assertEqual(ImageProvider().check_settings("{ }"), '{"image":"debian"}')
        self.assertEqual(PlainProvider().check_settings(" {} "), "{}")
        self.assert_fails(Sbx.Error.INVALID, ["cannot be read as JSON"],
                          PlainProvider().check_settings, "{")
        # PyGObject prints what is no GLib.Error, and gives back nothing.
        self.assert_fails(Sbx.Error.FAILED, ["gave back none"],
                          ImageProvider().check_settings, '{"image": "trouble"}')

    def test_provider_set(self):
        providers = self.make_providers()
        self.assertEqual(providers.list_keys(), ["broken", "image", "plain"])
        self.assertEqual(providers.get_default(), "image")
        self.assertIsInstance(providers.lookup(None), ImageProvider)
        self.assertIsInstance(providers.lookup("plain"), PlainProvider)
        self.assertFalse(providers.has_key("vm"))
        providers.set_default(None)
        self.assert_fails(Sbx.Error.NOT_FOUND, ["“image”, “plain”"], providers.lookup, None)
        self.assert_fails(Sbx.Error.NOT_FOUND, ["o provider of sandboxes is installed"],
                          Sbx.ProviderSet.new().lookup, None)

    def test_reach(self):
        reach = Sbx.Reach.new("/work")
        reach.add_read("/a")
        reach.add_write("/b")
        reach.set_variable("NAME", "value")
        reach.set_environment_key("image", '{"image":"debian"}')
        written = reach.to_json()
        self.assertEqual(loads(written), {
            "cwd": "/work", "read": ["/a"], "write": ["/b"],
            "environment": {"image": {"image": "debian"}}, "variables": {"NAME": "value"},
        })
        again = Sbx.Reach.new_from_json(written)
        self.assertTrue(reach.equal(again))
        self.assertFalse(again.is_resolved())
        self.assertIsNone(again.get_entries())
        reach.add_read(b"/bad\xff")
        self.assert_fails(Sbx.Error.INVALID, ["read: “/bad\\xff” is not UTF-8"], reach.to_json)

    def test_resolved(self):
        """What a resolved reach comes to is written, and not believed when it is read."""
        reach = self.resolve(spec_of(write=["."], network=["Example.ORG"]))
        self.assertTrue(reach.is_resolved())
        written = loads(reach.to_json())
        kinds = [entry["kind"] for entry in written["entries"]]
        self.assertEqual([kind for kind in kinds if kind != "protected"], ["cwd", "write", "domain"])
        self.assertEqual(written["entries"][2]["domain"], "example.org")
        self.assertFalse(Sbx.Reach.new_from_json(reach.to_json()).is_resolved())


if __name__ == "__main__":
    tap.main()
