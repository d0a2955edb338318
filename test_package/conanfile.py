import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout


class HoldfastTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["HOLDFAST_COMPONENTS"] = ";".join(self.components())
        toolchain.generate()

    def components(self):
        options = self.dependencies["holdfast"].options
        return [name for name in ("prometheus", "testing") if getattr(options, name)]

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "test_package"), env="conanrun")
            if self.dependencies["holdfast"].options.cli:
                self.run("holdfast --version", env="conanrun")
            if "testing" in self.components():
                # A lock on a server in memory.
                self.run(os.path.join(self.cpp.build.bindir, "test_testing"), env="conanrun")
