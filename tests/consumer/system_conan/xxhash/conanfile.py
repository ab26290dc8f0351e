"""Stands for the xxHash of Conan's own index where there is no network: the system's."""
from conan import ConanFile


class System(ConanFile):
    name, version = "xxhash", "0.8.1"

    def package_info(self):
        self.cpp_info.components["libxxhash"].set_property("pkg_config_name", "libxxhash")
        self.cpp_info.components["libxxhash"].includedirs = []
        self.cpp_info.components["libxxhash"].system_libs = ["xxhash"]
