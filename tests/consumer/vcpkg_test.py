"""The vcpkg port, without network: the system's xxHash and OpenSSL stand for vcpkg's."""
import os
import shutil
import sys

from ways import SKIPPED, SOURCE, Ways, blocks, main, need


def root_of(program):
    return os.environ.get("VCPKG_ROOT") or os.path.dirname(os.path.realpath(program))


class Vcpkg(Ways):
    def setUp(self):
        """A root of its own: vcpkg writes into it."""
        super().setUp()
        program = shutil.which("vcpkg")
        root = os.path.join(self.home, "vcpkg")
        os.mkdir(root)
        shutil.copy(program, root)
        for part in (".vcpkg-root", "LICENSE.txt", "ports", "scripts", "triplets", "versions"):
            os.symlink(os.path.join(root_of(program), part), os.path.join(root, part))
        self.environment |= {
            "VCPKG_ROOT": root, "PATH": f"{root}:{os.environ['PATH']}", "VCPKG_FORCE_SYSTEM_BINARIES": "1",
            "VCPKG_OVERLAY_PORTS": os.path.join(SOURCE, "tests", "consumer", "system_vcpkg"),
            "VCPKG_BINARY_SOURCES": "clear", "VCPKG_DISABLE_METRICS": "1"}

    def test_install_and_use(self):
        install, use = blocks("vcpkg", "sh")
        self.run_in(SOURCE, install)
        self.build_by_find_package(use)


need("vcpkg")
if not os.path.isdir(os.path.join(root_of(shutil.which("vcpkg")), "ports")):
    print("skipped: vcpkg is installed, but its ports are not where VCPKG_ROOT says")
    sys.exit(SKIPPED)
main()
