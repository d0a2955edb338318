#include "support/fake_client.hpp"

#include "support/run.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;

config patient_config() {
    config settings;
    settings.lease = 1h;
    settings.request_timeout = 60s;
    settings.fallback = 1h;
    return settings;
}

config short_config() {
    config settings;
    settings.lease = 1s;
    return settings;
}

void with_fake_client(fake_body const& body, config settings) {
    run_with_deadline([&](boost::asio::any_io_executor executor) -> boost::asio::awaitable<void> {
        auto const server = fake_server::make();
        auto client = server->make_client(executor, settings);
        co_await body(*server, client);
    });
}

}  // namespace holdfast::test
