#include "certificates.hpp"

#include "child_process.hpp"

#include <fstream>
#include <utility>

namespace holdfast::test {

namespace {

void write_file(std::filesystem::path const& path, std::string const& text) {
    std::ofstream out{path};
    out.exceptions(std::ios::failbit | std::ios::badbit);
    out << text;
}

void make_key(std::filesystem::path const& path) {
    // Elliptic curve: an RSA key takes a noticeable time to find.
    run_program({"openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path});
}

}  // namespace

certificate_authority::certificate_authority(std::filesystem::path folder)
    : folder_{std::move(folder)} {
    std::filesystem::create_directories(folder_);
    make_key(folder_ / "ca.key");
    run_program(
        {"openssl",
         "req",
         "-x509",
         "-new",
         "-key",
         folder_ / "ca.key",
         "-subj",
         "/CN=holdfast test authority",
         "-days",
         "2",
         "-out",
         folder_ / "ca.crt"}
    );
}

certificate certificate_authority::issue(certificate_options const& options) {
    auto const file = [this, name = "issued-" + std::to_string(++issued_)](char const* suffix) {
        return (folder_ / (name + suffix)).string();
    };
    make_key(file(".key"));
    write_file(file(".ext"), "subjectAltName=" + options.subject_alternative_name + "\n");
    run_program(
        {"openssl",
         "req",
         "-new",
         "-key",
         file(".key"),
         "-subj",
         "/CN=" + options.common_name,
         "-out",
         file(".csr")}
    );
    run_program(
        {"openssl",
         "x509",
         "-req",
         "-in",
         file(".csr"),
         "-CA",
         folder_ / "ca.crt",
         "-CAkey",
         folder_ / "ca.key",
         "-CAcreateserial",
         "-extfile",
         file(".ext"),
         "-days",
         options.expired ? "-1" : "2",
         "-out",
         file(".crt")}
    );
    return {.certificate_file = file(".crt"), .key_file = file(".key")};
}

}  // namespace holdfast::test
