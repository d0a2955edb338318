# For a Conan that cannot reach a repository with Boost, fmt and OpenSSL: those of this machine take
# their places, in the versions that they have. From another folder give the whole path:
#
#     conan create . -pr:a test_package/platform.profile -nr
#
# Boost is looked for in $Boost_ROOT, in build/boost/usr, where ./dev puts it, and where the compiler
# looks. The compiler is the one that Conan detects; CC and CXX name another.

{% set fetched_boost = os.path.join(profile_dir, "..", "build", "boost", "usr") %}
{% set boost_root = os.path.realpath(os.getenv("Boost_ROOT") or fetched_boost) %}
{% set cc, version, exe = detect_api.detect_default_compiler() %}

{# The value of a header's macro. #}
{% macro value(header, name) -%}
{% set preprocess = '%s -E -P -x c++ -I "%s/include" -' % (os.getenv("CXX") or "c++", boost_root) -%}
{{ os.popen("printf '#include <%s>\n%s\n' | %s | tail -n 1" % (header, name, preprocess)).read().strip('"\n') }}
{%- endmacro %}
{% set boost = value("boost/version.hpp", "BOOST_VERSION") | int %}
{% set fmt = value("fmt/core.h", "FMT_VERSION") | int %}
{% set cli11 = value("CLI/Version.hpp", "CLI11_VERSION") %}
{% set openssl = value("openssl/opensslv.h", "OPENSSL_VERSION_STR") %}

[settings]
os={{ detect_api.detect_os() }}
arch={{ detect_api.detect_arch() }}
build_type=Release
compiler={{ cc }}
compiler.version={{ detect_api.default_compiler_version(cc, version) }}
compiler.libcxx={{ detect_api.detect_libcxx(cc, version, exe) }}
compiler.cppstd=20

[platform_requires]
boost/{{ boost // 100000 }}.{{ boost // 100 % 1000 }}.{{ boost % 100 }}
fmt/{{ fmt // 10000 }}.{{ fmt // 100 % 100 }}.{{ fmt % 100 }}
openssl/{{ openssl }}
lua/5.1.5
# Debian's does not tell its version.
prometheus-cpp/1.0.1
{% if cli11[:1].isdigit() %}
cli11/{{ cli11 }}
{% endif %}

[conf]
tools.cmake.cmaketoolchain:generator=Ninja
{% if os.path.isdir(boost_root) %}
tools.cmake.cmaketoolchain:extra_variables={"Boost_ROOT": "{{ boost_root }}"}
# Debug information and messages do not name that folder.
tools.build:cxxflags=["-ffile-prefix-map={{ boost_root }}/="]
{% endif %}
