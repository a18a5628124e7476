#!/usr/bin/env python3
"""What of the environment reaches a program: certificate authorities of the person's own; what is withheld is said once."""

import json
import os

import flow
from flow import Flow

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"
SHOW = "import os; print(open(os.environ['NODE_EXTRA_CA_CERTS']).readline().strip())"


class Certificates(Flow):
    def shown(self, file, *words):
        return self.run_program(*words, "--", "/usr/bin/python3", "-IS", "-c", SHOW, env={"NODE_EXTRA_CA_CERTS": file})

    def test_a_file_of_them_outside_of_every_grant_is_there(self):
        ca = self.file("home/company/ca.pem", CERTIFICATE)
        done = self.shown(ca)
        self.assertEqual((done.returncode, done.stdout), (0, "-----BEGIN CERTIFICATE-----\n"), done.stderr)

    def test_what_is_none_or_blocked_is_not(self):
        for file in (self.secret, self.file("home/company/key.pem", KEY), self.file("home/company/both.pem", CERTIFICATE + KEY),
                     self.file("home/.ssh/ca.pem", CERTIFICATE), os.path.join(self.home, "missing.pem")):
            done = self.shown(file)
            self.assertNotEqual(done.returncode, 0, file)
            self.assertIn("KeyError", done.stderr, file)

    def test_a_manifest_has_the_word(self):
        ca = self.file("home/company/ca.pem", CERTIFICATE)
        manifest = self.file("project/m.json", json.dumps(
            {"manifest": 1, "files": {"read": ["${workspace}", "@system"]}, "run": ["/usr/bin/python3"]}))
        self.assertIn("KeyError", self.shown(ca, "--manifest", manifest).stderr)


class Withheld(Flow):
    def test_it_is_said_once_for_a_workspace(self):
        def told(cwd=None, **variables):
            done = self.run_program("--", "/usr/bin/python3", "-IS", "-c", f"open({self.secret!r})", cwd=cwd, env=variables)
            self.assertNotEqual(done.returncode, 0)
            return "withheld" in done.stderr
        self.assertTrue(told(MY_SETTING="1"))
        self.assertFalse(told(MY_SETTING="2"))
        self.assertTrue(told(MY_SETTING="1", OTHER="1"))
        self.assertTrue(told(self.folder("other"), MY_SETTING="1"))


if __name__ == "__main__":
    flow.main()
