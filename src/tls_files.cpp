#include "tls_files.hpp"

#include <fstream>
#include <stdexcept>
#include <string>

namespace holdfast::detail {

namespace {

void check_file(std::string const& path, char const* which, char const* member) {
    if (path.empty()) {
        return;
    }
    // A folder can be opened, but not read; an empty file holds no certificate.
    std::ifstream file{path};
    if (!file || file.peek() == std::ifstream::traits_type::eof()) {
        throw std::invalid_argument(
            std::string("holdfast::config::") + which + '.' + member + ": cannot read " + path
        );
    }
}

}  // namespace

void check_tls_files(tls_options const& tls, char const* which) {
    if (!tls.enabled) {
        return;
    }
    if (!tls.insecure_accept_any_certificate) {
        check_file(tls.ca_file, which, "ca_file");
    }
    check_file(tls.certificate_file, which, "certificate_file");
    check_file(tls.private_key_file, which, "private_key_file");
}

}  // namespace holdfast::detail
