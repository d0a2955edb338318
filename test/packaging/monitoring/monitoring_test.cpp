// The dashboard and the alerts of examples/monitoring ask only for metrics that exist, and the page
// about them lists all that do: compared with what the servers of the flash sale expose.

#include "support/child_process.hpp"
#include "support/redis_server.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
namespace json = boost::json;
using asio::ip::tcp;
using namespace holdfast::test;

namespace {

std::string read(std::string const& path) {
    std::ifstream in{std::string{HOLDFAST_SOURCE_DIR} + "/" + path};
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        throw std::runtime_error{"cannot read " + path};
    }
    return text.str();
}

std::string ask(std::uint16_t port, std::string const& request_line) {
    asio::io_context context;
    tcp::socket socket{context};
    socket.connect({asio::ip::address_v4::loopback(), port});
    auto const request = request_line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    asio::write(socket, asio::buffer(request));
    std::string answer;
    boost::system::error_code end_of_answer;
    asio::read(socket, asio::dynamic_buffer(answer), end_of_answer);
    return answer;
}

struct server {
    explicit server(std::string const& redis)
        : process{{HOLDFAST_SHOP_SERVER, "--redis", redis, "--locks", redis, "--metrics", "0"}} {
        auto const line = process.read_line(std::chrono::seconds{60});
        std::istringstream{line.value_or("")} >> port >> metrics_port;
    }
    child_process process;
    std::uint16_t port = 0;
    std::uint16_t metrics_port = 0;
};

// The flash sale for a moment: two servers, and buyers that get in each other's way.
std::vector<std::string> scrapes_of_a_sale() {
    redis_server const redis;
    std::vector<server> servers;
    for (int i = 0; i < 2; ++i) {
        servers.emplace_back(redis.url());
    }
    std::vector<std::thread> buyers;
    for (std::size_t i = 0; i < 6; ++i) {
        buyers.emplace_back([port = servers[i % 2].port] {
            for (int n = 0; n < 10; ++n) {
                ask(port, "POST /buy");
            }
        });
    }
    for (auto& each : buyers) {
        each.join();
    }
    std::vector<std::string> result;
    for (auto const& each : servers) {
        result.push_back(ask(each.metrics_port, "GET /metrics"));
    }
    return result;
}

std::vector<std::string> const& scrapes() {
    static auto const result = scrapes_of_a_sale();
    return result;
}

// The types by the names of the metrics.
std::map<std::string, std::string> metrics_in(std::string const& scrape) {
    std::map<std::string, std::string> result;
    std::regex const type{"# TYPE (holdfast_\\w+) (\\w+)"};
    for (std::sregex_iterator at{scrape.begin(), scrape.end(), type}, end; at != end; ++at) {
        result[(*at)[1]] = (*at)[2];
    }
    return result;
}

double value_in(std::string const& scrape, std::string const& series) {
    auto const at = scrape.find('\n' + series + ' ');
    return at == scrape.npos ? -1 : std::stod(scrape.substr(at + series.size() + 2));
}

// What a query asks for that the scrape has not got.
std::vector<std::string> missing_in(std::string const& scrape, std::string const& query) {
    std::vector<std::string> missing;
    auto const there = metrics_in(scrape);
    std::regex const metric{"\\b(holdfast_\\w+)(\\{([^}]*)\\})?"};
    std::regex const label{"(\\w+)(=|!=|=~|!~)\"([^\"]*)\""};
    std::regex const part{"_(bucket|sum|count)$"};
    for (std::sregex_iterator at{query.begin(), query.end(), metric}, end; at != end; ++at) {
        auto const series = at->str(1);
        auto const base = std::regex_replace(series, part, "");
        auto const found = there.find(base);
        if (found == there.end() || (base != series) != (found->second == "histogram")) {
            missing.push_back(series);
            continue;
        }
        auto const conditions = at->str(3);
        for (std::sregex_iterator one{conditions.begin(), conditions.end(), label}; one != end;
             ++one) {
            // Prometheus adds these two.
            auto const name = one->str(1);
            if (name == "job" || name == "instance") {
                continue;
            }
            std::istringstream values{one->str(3)};
            for (std::string value; std::getline(values, value, '|');) {
                std::regex const wanted{"\n" + series + "\\{[^}\n]*" + name + "=\"" + value + "\""};
                if (!std::regex_search(scrape, wanted)) {
                    missing.push_back(series + "{" + name + "=\"" + value + "\"}");
                }
            }
        }
    }
    return missing;
}

void collect_queries(json::value const& in, std::vector<std::string>& queries) {
    if (auto const* const object = in.if_object()) {
        for (auto const& [key, value] : *object) {
            if (value.is_string() && (key == "expr" || key == "query")) {
                queries.emplace_back(value.get_string());
            }
            collect_queries(value, queries);
        }
    } else if (auto const* const array = in.if_array()) {
        for (auto const& each : *array) {
            collect_queries(each, queries);
        }
    }
}

std::vector<std::string> found_by(std::regex const& what, std::string const& text) {
    std::vector<std::string> result;
    for (std::sregex_iterator at{text.begin(), text.end(), what}, end; at != end; ++at) {
        result.push_back((*at)[1]);
    }
    return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(monitoring_test)

BOOST_AUTO_TEST_CASE(the_servers_expose_what_happened) {
    double granted = 0;
    double waited = 0;
    for (auto const& scrape : scrapes()) {
        granted +=
            value_in(scrape, "holdfast_acquisitions_total{result=\"granted\",lock=\"flash-sale\"}");
        waited += value_in(scrape, "holdfast_waits_total");
        BOOST_TEST(value_in(scrape, "holdfast_clients") == 1);
        BOOST_TEST(value_in(scrape, "holdfast_connections") == 2);
        BOOST_TEST(value_in(scrape, "holdfast_hold_seconds_count{lock=\"flash-sale\"}") == 30);
    }
    BOOST_TEST(granted == 60);
    BOOST_TEST(waited > 0);
}

BOOST_AUTO_TEST_CASE(the_dashboard_asks_for_metrics_that_there_are) {
    std::vector<std::string> queries;
    collect_queries(json::parse(read("examples/monitoring/dashboard.json")), queries);
    BOOST_TEST(queries.size() > 40U);
    for (auto const& query : queries) {
        for (auto const& what : missing_in(scrapes().front(), query)) {
            BOOST_ERROR(what << " in " << query);
        }
    }
}

BOOST_AUTO_TEST_CASE(each_alert_asks_for_metrics_that_there_are_and_is_tested_and_explained) {
    auto const rules = read("examples/monitoring/alerts.yml");
    auto const tests = read("examples/monitoring/alerts_test.yml");
    auto const page = read("src/reference/pages/monitoring.md");
    auto const queries = found_by(std::regex{"\n +expr: ([^\n]+)"}, rules);
    auto const alerts = found_by(std::regex{"- alert: (\\w+)\n"}, rules);
    BOOST_TEST(alerts.size() >= 8U);
    BOOST_TEST(queries.size() == alerts.size());
    for (auto const& query : queries) {
        for (auto const& what : missing_in(scrapes().front(), query)) {
            BOOST_ERROR(what << " in " << query);
        }
    }
    for (auto const& alert : alerts) {
        BOOST_TEST((page.find("\n### " + alert + "\n") != page.npos), alert);
        BOOST_TEST((tests.find("alertname=\"" + alert + "\"") != tests.npos), alert);
    }
    auto const explained = found_by(std::regex{"\n### (Holdfast\\w+)\n"}, page);
    BOOST_TEST(explained == alerts, boost::test_tools::per_element());
}

// | `name` | type | labels | what it is |
BOOST_AUTO_TEST_CASE(the_page_lists_the_metrics_with_their_types_and_labels) {
    auto const page = read("src/reference/pages/monitoring.md");
    auto const& scrape = scrapes().front();
    std::map<std::string, std::string> listed;
    std::regex const row{"\n\\| `(holdfast_\\w+)` \\| (\\w+) \\| ([^|]*)\\|"};
    for (std::sregex_iterator at{page.begin(), page.end(), row}, end; at != end; ++at) {
        auto const name = at->str(1);
        listed[name] = at->str(2);
        // Of any of its series.
        std::regex const series{"\n" + name + "(?:_count)?\\{([^}\n]*)\\}"};
        std::smatch found;
        auto const labels = std::regex_search(scrape, found, series) ? found.str(1) : "";
        auto const names = found_by(std::regex{"(\\w+)="}, labels);
        BOOST_TEST(
            found_by(std::regex{"`(\\w+)`"}, at->str(3)) == names,
            boost::test_tools::per_element()
        );
    }
    BOOST_TEST((listed == metrics_in(scrape)));
    for (auto const& [name, type] : metrics_in(scrape)) {
        BOOST_TEST(listed.contains(name), name << " is not on the page");
    }
    for (auto const& [name, type] : listed) {
        BOOST_TEST(metrics_in(scrape).contains(name), name << " is on the page only");
    }
}

BOOST_AUTO_TEST_CASE(what_is_planted_is_found) {
    auto const& scrape = scrapes().front();
    BOOST_TEST(missing_in(scrape, "rate(holdfast_grants_total[5m])").empty());
    BOOST_TEST(missing_in(scrape, "holdfast_hold_seconds_bucket{job=\"x\"}").empty());
    BOOST_TEST(missing_in(scrape, "holdfast_leases_lost_total{reason=~\"taken|expired\"}").empty());
    for (char const* const wrong :
         {"rate(holdfast_grant_total[5m])",
          "holdfast_hold_seconds",
          "holdfast_grants_total_count",
          "holdfast_leases_lost_total{reason=~\"taken|stolen\"}",
          "holdfast_leases_lost_total{reasons=\"taken\"}"}) {
        BOOST_TEST(missing_in(scrape, wrong).size() == 1U, wrong);
    }
}

BOOST_AUTO_TEST_SUITE_END()
