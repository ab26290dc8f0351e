"""The libraries of the Posy that this file lies in: conan create packaging/conan"""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps

ROOT = os.path.join("..", "..")


class Posy(ConanFile):
    name = "posy"
    description = "Bloom filters built to travel"
    license = "Apache-2.0"
    author = "The Posy authors"
    topics = ("bloom-filter", "sketch", "set-reconciliation", "http-cache")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"md5": [True, False], "http_cache": [True, False]}
    default_options = {"md5": True, "http_cache": True}

    def set_version(self):
        project = load(self, os.path.join(self.recipe_folder, ROOT, "CMakeLists.txt"))
        self.version = re.search(r"project\(posy VERSION (\S+)", project)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "http_cache/*"):
            copy(self, pattern, os.path.join(self.recipe_folder, ROOT), self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def requirements(self):
        self.requires("xxhash/[>=0.8.1 <0.9]")
        if self.options.md5:
            self.requires("openssl/[>=3 <4]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({
            "POSY_MD5": bool(self.options.md5), "POSY_HTTP_CACHE": bool(self.options.http_cache),
            "POSY_TOOL": False, "POSY_TESTS": False, "POSY_C": False})
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan writes these for each consumer.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        core = self.cpp_info.components["core"]
        core.libs = ["posy"]
        core.system_libs = ["pthread", "m"]
        core.requires = ["xxhash::xxhash"] + (["openssl::crypto"] if self.options.md5 else [])
        core.set_property("cmake_target_name", "posy::posy")
        core.set_property("pkg_config_name", "posy")
        if self.options.http_cache:
            http_cache = self.cpp_info.components["http_cache"]
            http_cache.libs = ["posy_http_cache"]
            http_cache.requires = ["core"]
            http_cache.set_property("pkg_config_name", "posy-http_cache")
