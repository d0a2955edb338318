// Whether an installed holdfast compiles, links and answers. Needs no server.

#include <holdfast.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using boost::system::error_code;
using holdfast::errc;

#ifdef HOLDFAST_SHARED
constexpr std::string_view kind = "shared";
#else
constexpr std::string_view kind = "static";
#endif

int failures = 0;

void check(bool right, std::string_view what) {
    if (!right) {
        std::cerr << "wrong: " << what << '\n';
        ++failures;
    }
}

void check_urls() {
    auto const config = holdfast::parse_url("rediss://app:secret@locks.example:6380/2");
    check(config.host == "locks.example" && config.port == 6380, "the address in a URL");
    check(config.username == "app" && config.password == "secret", "the user in a URL");
    check(config.database == 2 && config.tls.enabled, "the rest of a URL");
    try {
        static_cast<void>(holdfast::parse_url("http://locks.example"));
        check(false, "a URL of another kind is accepted");
    } catch (std::invalid_argument const&) {
    }
}

void check_config() {
    boost::asio::io_context context;
    try {
        holdfast::client client{context, holdfast::config{.lease = 1ms}};
        check(false, "a wrong configuration is accepted");
    } catch (std::invalid_argument const& e) {
        check(std::string_view{e.what()}.find("lease") != std::string_view::npos, e.what());
    }
}

// Operations that end before anything is sent.
void check_errors() {
    boost::asio::io_context context;
    holdfast::client client{context, "unix:///nonexistent/redis"};
    int answers = 0;
    auto expect = [&](errc expected) {
        return [&answers, expected](error_code ec, holdfast::lease lease) {
            check(ec == expected && !lease, ec.message());
            ++answers;
        };
    };
    client.lock("").acquire(expect(errc::invalid_name));
    client.lock("stock:{}", 7).acquire({.lease = 1ms}, expect(errc::invalid_lease));
    client.lock("stock").acquire({.renew_at = 2}, expect(errc::invalid_options));
    client.lock("stock").try_acquire_for(-1s, expect(errc::invalid_options));
    client.shutdown([&](error_code ec) {
        check(!ec, ec.message());
        ++answers;
    });
    context.run_for(30s);
    check(answers == 5, "an operation did not end");
}

}  // namespace

int main() {
    check_urls();
    check_config();
    check_errors();
    std::cout << "holdfast " << HOLDFAST_VERSION_STRING << " (" << kind << ", " << BUILD_TYPE
              << "): " << (failures == 0 ? "ok" : "failed") << std::endl;
    return failures == 0 ? 0 : 1;
}
