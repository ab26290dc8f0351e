"""Makes the packages for Debian and for RPM's distributions, unpacks them into a folder, and uses what is there."""
import glob
import os
import shutil
import subprocess
import unittest

from ways import BUILD, SOURCE, Ways, blocks, files, main

# Stands for sudo apt-get install FILE… and sudo dnf install FILE…: the system stays as it is.
UNPACK = """#!/bin/sh -e
shift 2
for package; do
  case $package in
    *.deb) dpkg-deb -x "$package" "$ROOT" ;;
    *.rpm) rpm2archive - <"$package" | tar xzC "$ROOT" ;;
  esac
done
"""


def ask(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


# What the daemons need as services: where it is in packaging/, and where in a package.
SERVICES = {"systemd": "usr/lib/systemd/system", "etc": "etc/posy", "logrotate": "etc/logrotate.d", "prometheus": "usr/share/posy/prometheus",
            "grafana": "usr/share/posy/grafana"}


class Packages(Ways):
    def setUp(self):
        super().setUp()
        self.root = os.path.join(self.home, "root")
        tools = os.path.join(self.home, "bin")
        os.makedirs(os.path.join(self.root, "usr"))
        os.mkdir(tools)
        os.symlink(os.path.join(self.root, "usr"), os.path.join(self.home, ".local"))
        sudo = os.path.join(tools, "sudo")
        with open(sudo, "w", encoding="utf-8") as file:
            file.write(UNPACK)
        os.chmod(sudo, 0o755)
        self.environment |= {"ROOT": self.root, "PATH": f"{tools}:{os.environ['PATH']}"}

    def make(self, heading, ending):
        """Makes and unpacks the packages; the files in them, and the packages."""
        for old in glob.glob(os.path.join(BUILD, f"*.{ending}")):
            os.remove(old)
        self.run_in(SOURCE, *blocks(heading, "sh"))
        self.assertIn("posy", self.run_in(self.root, "usr/bin/posy --version"))
        return files(os.path.join(self.root, "usr")), glob.glob(os.path.join(BUILD, f"*.{ending}"))

    def check_services(self):
        """All files of packaging/ that are for services are where they belong, and everybody may read them."""
        for source, place in SERVICES.items():
            wanted = files(os.path.join(SOURCE, "packaging", source))
            self.assertLessEqual(wanted, files(os.path.join(self.root, place)))
            self.assertTrue(wanted)
            for name in wanted:
                self.assertEqual(os.stat(os.path.join(self.root, place, name)).st_mode & 0o777, 0o644, name)

    @unittest.skipUnless(shutil.which("dpkg-shlibdeps") and shutil.which("file"), "dpkg-dev and file are not installed")
    def test_debian(self):
        installed, packages = self.make("Debian packages", "deb")
        self.assertLessEqual({"share/man/man1/posy.1.gz", "share/bash-completion/completions/posy", "share/doc/posy/copyright",
                              "share/zsh/vendor-completions/_posy", "share/doc/libposy-dev/copyright"}, installed)
        self.check_services()
        package, = (name for name in packages if os.path.basename(name).startswith("posy_"))
        self.assertEqual(ask("dpkg-deb", "--info", package, "conffiles"), ["/etc/logrotate.d/posy", "/etc/posy/node.toml", "/etc/posy/proxy.toml"])
        self.build_against_prefix()
        self.build_in_c_against_prefix()
        needs = {}
        for package in packages:
            name, maintainer, needs[name] = ask("dpkg-deb", "-W", "--showformat=${Package}\n${Maintainer}\n${Depends}", package)
            self.assertEqual(maintainer, "The Posy authors")
        self.assertEqual(set(needs), {"libposy-dev", "libposy-c0", "posy"})
        for needed in ("libxxhash-dev", "libssl-dev", "pkg-config", "libposy-c0 (= "):
            self.assertIn(needed, needs["libposy-dev"])
        for needed in ("libc6", "libstdc++6", "libxxhash"):
            self.assertIn(needed, needs["libposy-c0"])
        for needed in ("libc6", "libstdc++6", "libxxhash", "libssl", "libleveldb", "libfmt", "libpcap"):
            self.assertIn(needed, needs["posy"])

    @unittest.skipUnless(shutil.which("rpmbuild"), "rpmbuild is not installed")
    def test_rpm(self):
        installed, packages = self.make("RPM packages", "rpm")
        self.assertLessEqual({"share/man/man1/posy.1.gz", "share/zsh/site-functions/_posy", "share/doc/posy/LICENSE"}, installed)
        self.check_services()
        package, = (name for name in packages if os.path.basename(name).startswith("posy-0"))
        self.assertEqual(ask("rpm", "-qp", "--configfiles", package), ["/etc/logrotate.d/posy", "/etc/posy/node.toml", "/etc/posy/proxy.toml"])
        needs = {}
        for package in packages:
            name, *needs[name] = ask("rpm", "-qp", "--queryformat", "%{NAME}\n[%{REQUIRENAME}\n]", package)
        self.assertEqual(set(needs), {"posy", "posy-c", "posy-devel"})
        self.assertLessEqual({"pkgconfig(libxxhash)", "pkgconfig(libcrypto)", "/usr/bin/pkg-config", "posy-c"}, set(needs["posy-devel"]))
        self.assertIn("libxxhash.so.0()(64bit)", needs["posy"])


main()
