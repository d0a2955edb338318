// A file that TLS needs and that cannot be read is reported when the client is made.

#include "tls_files.hpp"

#include <holdfast/client.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fs = std::filesystem;
using holdfast::config;
using holdfast::tls_options;
using holdfast::detail::check_tls_files;

namespace {

/// A folder with a file that has something in it and one that has not.
struct folder {
    folder() {
        fs::create_directory(path);
        std::ofstream{file} << "something";
        std::ofstream{empty};
    }
    folder(folder const&) = delete;
    folder& operator=(folder const&) = delete;
    ~folder() { fs::remove_all(path); }

    fs::path path = fs::temp_directory_path() / ("holdfast_" + std::to_string(::getpid()));
    std::string file = path / "file";
    std::string empty = path / "empty";
    std::string missing = path / "missing";
};

auto names(std::string_view member, std::string_view path) {
    return [=](std::invalid_argument const& e) {
        std::string_view const what = e.what();
        return what.find(member) != what.npos && what.find(path) != what.npos;
    };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tls_files_test)

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_is_named_with_its_member) {
    folder const in;
    struct {
        char const* name;
        std::string tls_options::* member;
    } const members[] = {
        {"tls.ca_file", &tls_options::ca_file},
        {"tls.certificate_file", &tls_options::certificate_file},
        {"tls.private_key_file", &tls_options::private_key_file},
    };
    for (auto const& each : members) {
        tls_options tls{.enabled = true};
        tls.*each.member = in.file;
        BOOST_CHECK_NO_THROW(check_tls_files(tls));
        for (auto const& wrong : {in.missing, in.empty, in.path.string()}) {
            tls.*each.member = wrong;
            BOOST_CHECK_EXCEPTION(
                check_tls_files(tls),
                std::invalid_argument,
                names(each.name, wrong)
            );
        }
    }
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_used_need_not_be_there) {
    folder const in;
    BOOST_CHECK_NO_THROW(check_tls_files({.enabled = true}));
    BOOST_CHECK_NO_THROW(check_tls_files({.ca_file = in.missing}));
    BOOST_CHECK_NO_THROW(check_tls_files(
        {.enabled = true, .ca_file = in.missing, .insecure_accept_any_certificate = true}
    ));
}

BOOST_AUTO_TEST_CASE(the_constructor_of_a_client_looks) {
    folder const in;
    boost::asio::io_context context;
    config settings;
    settings.tls.enabled = true;
    settings.tls.ca_file = in.missing;
    BOOST_CHECK_EXCEPTION(
        holdfast::client(context, settings),
        std::invalid_argument,
        names("tls.ca_file", in.missing)
    );
    settings.tls = {};
    settings.sentinels = {{"h", 1}};
    settings.primary_name = "mymaster";
    settings.sentinel_tls = {.enabled = true, .ca_file = in.missing};
    BOOST_CHECK_EXCEPTION(
        holdfast::client(context, settings),
        std::invalid_argument,
        names("sentinel_tls.ca_file", in.missing)
    );
}

BOOST_AUTO_TEST_SUITE_END()
