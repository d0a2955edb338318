// A client whose grant shows in its metrics.
#include <holdfast.hpp>
#include <holdfast/prometheus.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

int main(int, char** argv) {
    auto const metrics = std::make_shared<holdfast::prometheus_metrics>();
    auto config = holdfast::parse_url(argv[1]);
    config.observer = metrics;
    boost::asio::io_context context;
    holdfast::client client{context, config};
    client.lock("consumer").acquire([&](holdfast::error_code, holdfast::lease lease) {
        auto const shown = metrics->Collect();
        auto const grants = std::find_if(shown.begin(), shown.end(), [](auto const& family) {
            return family.name == "holdfast_grants_total";
        });
        bool const counted = grants->metric.front().counter.value == 1.0;
        std::cout << (counted ? "token" : "not counted") << ' ' << lease.token().value << '\n';
        client.shutdown([](holdfast::error_code) {});
    });
    context.run();
}
