#ifndef HOLDFAST_TEST_SUPPORT_CERTIFICATES_HPP
#define HOLDFAST_TEST_SUPPORT_CERTIFICATES_HPP

#include <filesystem>
#include <string>

namespace holdfast::test {

struct certificate {
    std::string certificate_file;
    std::string key_file;
};

struct certificate_options {
    std::string common_name = "localhost";

    // In openssl's form. A certificate for the wrong host names another one here.
    std::string subject_alternative_name = "DNS:localhost,IP:127.0.0.1";
    bool expired = false;
};

/// A throw-away authority with its files in a folder that somebody else removes.
/// A certificate nobody should trust is one issued by another authority.
class certificate_authority {
public:
    explicit certificate_authority(std::filesystem::path folder);

    std::string ca_file() const { return (folder_ / "ca.crt").string(); }

    certificate issue(certificate_options const& options = {});

private:
    std::filesystem::path folder_;
    int issued_ = 0;
};

}  // namespace holdfast::test

#endif
