"""Stands for the OpenSSL of Conan's own index where there is no network: the system's."""
from conan import ConanFile


class System(ConanFile):
    name, version = "openssl", "3.0.11"

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "OpenSSL")
        self.cpp_info.components["crypto"].set_property("cmake_target_name", "OpenSSL::Crypto")
        self.cpp_info.components["crypto"].includedirs = []
        self.cpp_info.components["crypto"].system_libs = ["crypto"]
