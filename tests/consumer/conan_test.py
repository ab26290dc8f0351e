"""The Conan recipe, without network: the system's xxHash and OpenSSL stand for those of Conan's index."""
import os

from ways import SOURCE, Ways, blocks, main, need

SYSTEM = os.path.join("tests", "consumer", "system_conan")


class Conan(Ways):
    def test_create_and_use(self):
        self.environment["CONAN_HOME"] = os.path.join(self.home, "conan")
        self.run_in(SOURCE, f"""
            conan profile detect
            conan remote disable '*'
            conan create {SYSTEM}/xxhash
            conan create {SYSTEM}/openssl""")
        create, use = blocks("Conan", "sh")
        self.run_in(SOURCE, create)
        self.write("conanfile.txt", *blocks("Conan", "ini"))
        self.build_by_find_package(use)


need("conan")
main()
