import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.scm import Version

required_conan_version = ">=2.4"


class Holdfast(ConanFile):
    name = "holdfast"
    description = "Distributed locks on Redis for Boost.Asio"
    topics = ("distributed-lock", "redis", "valkey", "asio", "boost", "coroutines")
    license = "BSL-1.0"

    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    # With `cli` the program `holdfast` comes along, with `prometheus` holdfast::prometheus (metrics), and
    # with `testing` holdfast::testing (a server in memory for tests of one's own code).
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "cli": [True, False],
        "prometheus": [True, False],
        "testing": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "cli": False,
        "prometheus": False,
        "testing": False,
        "boost/*:header_only": True,
    }
    implements = ["auto_shared_fpic"]
    generators = "CMakeDeps", "CMakeToolchain"
    exports_sources = "CMakeLists.txt", "LICENSE", "include/*", "src/*"

    # The oldest of each that it was built and tested with.
    compilers = {"gcc": "12", "clang": "19"}

    def set_version(self):
        cmake_lists = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"^ *VERSION ([\d.]+)$", cmake_lists, re.MULTILINE)[1]

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Our headers include those of Boost and fmt, and call into fmt.
        self.requires("boost/[>=1.92 <2]", transitive_headers=True)
        self.requires("fmt/[>=9]", transitive_headers=True, transitive_libs=True)
        self.requires("openssl/[>=3 <4]")
        if self.options.prometheus:
            self.requires("prometheus-cpp/[>=1 <2]", transitive_headers=True, transitive_libs=True)
        if self.options.testing:
            # The version that Redis' scripts are written for.
            self.requires("lua/[>=5.1 <5.2]")
        if self.options.cli:
            self.requires("cli11/[>=2.1 <3]", visible=False)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(
                f"{self.name} needs Linux (CLOCK_BOOTTIME, getrandom), not {self.settings.os}"
            )
        check_min_cppstd(self, 20)
        compiler, version = str(self.settings.compiler), self.settings.compiler.version
        oldest = self.compilers.get(compiler)
        if oldest and Version(version) < oldest:
            raise ConanInvalidConfiguration(
                f"{self.name} needs {compiler} {oldest} or newer, not {version}"
            )

    # A patch release of what it was built with needs no other package of it. Without this, a shared
    # library asks for the very ones that it was built with.
    def package_id(self):
        self.info.requires.minor_mode()

    def build(self):
        cmake = CMake(self)
        cmake.configure(
            variables={
                "HOLDFAST_BUILD_CLI": bool(self.options.cli),
                "HOLDFAST_BUILD_PROMETHEUS": bool(self.options.prometheus),
                "HOLDFAST_BUILD_MEMORY_SERVER": bool(self.options.testing),
            }
        )
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan's PkgConfigDeps writes a file that fits its packages.
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        # CMake finds holdfast's own files, the same as without Conan. Files of CMakeDeps would not
        # bring along a Boost that is not a Conan package.
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "holdfast")]
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.set_property("cmake_file_name", "holdfast")
        self.cpp_info.set_property("cmake_target_name", "holdfast::holdfast")
        self.cpp_info.set_property("pkg_config_name", "holdfast")
        self.cpp_info.libs = ["holdfast"]
        self.cpp_info.system_libs = ["pthread"]
        if self.options.shared:
            self.cpp_info.defines = ["HOLDFAST_SHARED"]
        self.cpp_info.requires = ["boost::headers", "fmt::fmt", "openssl::ssl", "openssl::crypto"]
        if self.options.prometheus:
            self.cpp_info.libs.insert(0, "holdfast_prometheus")
            self.cpp_info.requires.append("prometheus-cpp::prometheus-cpp-core")
        if self.options.testing:
            self.cpp_info.libs.insert(0, "holdfast_testing")
            self.cpp_info.requires.append("lua::lua")
