// URLs: every form, what they leave at its default, and what is wrong with a bad one, named without
// its password.

#include <holdfast/config.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

using holdfast::config;
using holdfast::parse_url;
using namespace std::string_view_literals;

namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(url_test)

BOOST_AUTO_TEST_CASE(a_host_alone_leaves_everything_else_at_its_default) {
    auto const settings = parse_url("redis://cache.example");
    BOOST_TEST(settings.host == "cache.example");
    BOOST_TEST(settings.port == 6379);
    BOOST_TEST(settings.username.empty());
    BOOST_TEST(settings.password.empty());
    BOOST_TEST(settings.database == 0);
    BOOST_TEST(settings.client_name == "holdfast");
    BOOST_TEST(settings.unix_socket.empty());
    BOOST_TEST(!settings.tls.enabled);
}

BOOST_AUTO_TEST_CASE(every_part_is_read) {
    auto const settings = parse_url("redis://alice:s3cret@cache.example:7000/3?client_name=shop");
    BOOST_TEST(settings.host == "cache.example");
    BOOST_TEST(settings.port == 7000);
    BOOST_TEST(settings.username == "alice");
    BOOST_TEST(settings.password == "s3cret");
    BOOST_TEST(settings.database == 3);
    BOOST_TEST(settings.client_name == "shop");
}

BOOST_AUTO_TEST_CASE(a_password_may_come_without_a_user) {
    auto const settings = parse_url("redis://:s3cret@h");
    BOOST_TEST(settings.username.empty());
    BOOST_TEST(settings.password == "s3cret");
}

BOOST_AUTO_TEST_CASE(special_characters_are_percent_encoded) {
    auto const settings = parse_url("redis://a%40b:p%3a%2F%3f%23%40%25%20@h/1");
    BOOST_TEST(settings.username == "a@b");
    BOOST_TEST(settings.password == "p:/?#@% ");
    BOOST_TEST(settings.database == 1);
}

BOOST_AUTO_TEST_CASE(a_password_may_have_colons) {
    BOOST_TEST(parse_url("redis://alice:a:b:c@h").password == "a:b:c");
}

BOOST_AUTO_TEST_CASE(addresses_are_hosts_too) {
    BOOST_TEST(parse_url("redis://127.0.0.1:7000").host == "127.0.0.1");
    auto const six = parse_url("redis://[::1]:7000/2");
    BOOST_TEST(six.host == "::1");
    BOOST_TEST(six.port == 7000);
    BOOST_TEST(six.database == 2);
    BOOST_TEST(parse_url("redis://[2001:db8::7]").port == 6379);
}

BOOST_AUTO_TEST_CASE(a_path_without_a_number_is_database_0) {
    BOOST_TEST(parse_url("redis://h/").database == 0);
    BOOST_TEST(parse_url("redis://h:1/?client_name=x").database == 0);
    BOOST_TEST(parse_url("redis://h?client_name=x").client_name == "x");
    BOOST_TEST(parse_url("redis://h:7000/0?client_name=worker@node").client_name == "worker@node");
    BOOST_TEST(parse_url("redis://h:7000/0?client_name=worker@node").host == "h");
}

BOOST_AUTO_TEST_CASE(rediss_is_verified_tls) {
    auto const settings =
        parse_url("rediss://alice:s3cret@h:6380/1?ca_file=%2Fetc%2Fca.pem&client_name=x");
    BOOST_TEST(settings.tls.enabled);
    BOOST_TEST(settings.tls.ca_file == "/etc/ca.pem");
    BOOST_TEST(settings.tls.host_name.empty());
    BOOST_TEST(!settings.tls.insecure_accept_any_certificate);
    BOOST_TEST(settings.port == 6380);
    BOOST_TEST(settings.client_name == "x");
    BOOST_TEST(parse_url("rediss://10.0.0.1?tls_host_name=r.example").tls.host_name == "r.example");
    auto const cluster = parse_url("rediss-cluster://10.0.0.1?tls_host_name=r.example");
    BOOST_TEST(cluster.tls.host_name == "r.example");
    auto const known =
        parse_url("rediss://h?certificate_file=/etc/me.pem&private_key_file=/etc/me.key");
    BOOST_TEST(known.tls.certificate_file == "/etc/me.pem");
    BOOST_TEST(known.tls.private_key_file == "/etc/me.key");
}

BOOST_AUTO_TEST_CASE(a_unix_socket_is_a_path) {
    auto const plain = parse_url("unix:///run/redis/a%20b.sock");
    BOOST_TEST(plain.unix_socket == "/run/redis/a b.sock");
    BOOST_TEST(plain.password.empty());
    auto const full = parse_url("unix://alice:s3cret@/run/redis.sock?client_name=x");
    BOOST_TEST(full.unix_socket == "/run/redis.sock");
    BOOST_TEST(full.username == "alice");
    BOOST_TEST(full.password == "s3cret");
    BOOST_TEST(full.client_name == "x");
}

BOOST_AUTO_TEST_CASE(a_unix_socket_has_its_database_in_the_query) {
    auto const settings = parse_url("unix:///run/redis.sock?db=3&client_name=x");
    BOOST_TEST(settings.unix_socket == "/run/redis.sock");
    BOOST_TEST(settings.database == 3);
    BOOST_TEST(settings.client_name == "x");
}

BOOST_AUTO_TEST_CASE(the_scheme_may_be_written_in_any_case) {
    BOOST_TEST(parse_url("REDIS://Cache.example/1").host == "Cache.example");
    BOOST_TEST(!parse_url("Redis://h").tls.enabled);
    BOOST_TEST(parse_url("RediSS://h").tls.enabled);
    BOOST_TEST(parse_url("UNIX:///run/Redis.sock").unix_socket == "/run/Redis.sock");
}

BOOST_AUTO_TEST_CASE(a_comma_in_a_user_name_or_a_password_is_not_a_second_server) {
    BOOST_TEST(parse_url("redis://a,b:c,d@h").password == "c,d");
}

BOOST_AUTO_TEST_CASE(sentinels_are_a_list_of_hosts_and_know_the_primary_by_name) {
    auto const plain = parse_url("redis-sentinel://h1,h2:7000,[::1]:7001/mymaster");
    BOOST_REQUIRE(plain.sentinels.size() == 3U);
    BOOST_TEST(plain.sentinels[0].host == "h1");
    BOOST_TEST(plain.sentinels[0].port == 26379);
    BOOST_TEST(plain.sentinels[1].host == "h2");
    BOOST_TEST(plain.sentinels[1].port == 7000);
    BOOST_TEST(plain.sentinels[2].host == "::1");
    BOOST_TEST(plain.sentinels[2].port == 7001);
    BOOST_TEST(plain.primary_name == "mymaster");
    BOOST_TEST(plain.database == 0);
    BOOST_TEST(!plain.tls.enabled);
    BOOST_TEST(!plain.sentinel_tls.enabled);
    auto const full = parse_url(
        "Redis-Sentinel://alice:s3cret@h1/my%2Fmaster/3?client_name=x&sentinel_username=bob&"
        "sentinel_password=other%26"
    );
    BOOST_TEST(full.username == "alice");
    BOOST_TEST(full.password == "s3cret");
    BOOST_TEST(full.primary_name == "my/master");
    BOOST_TEST(full.database == 3);
    BOOST_TEST(full.client_name == "x");
    BOOST_TEST(full.sentinel_username == "bob");
    BOOST_TEST(full.sentinel_password == "other&");
    BOOST_TEST(parse_url("redis-sentinel://h1/n/").database == 0);
}

BOOST_AUTO_TEST_CASE(tls_of_servers_and_of_sentinels_is_said_apart) {
    auto const both = parse_url("rediss-sentinel://h/n?ca_file=a");
    BOOST_TEST(both.tls.enabled);
    BOOST_TEST(both.sentinel_tls.enabled);
    BOOST_TEST(both.tls.ca_file == "a");
    BOOST_TEST(both.sentinel_tls.ca_file == "a");
    auto const servers = parse_url("rediss-sentinel://h/n?ca_file=a&sentinel_tls=off");
    BOOST_TEST(servers.tls.ca_file == "a");
    BOOST_TEST(!servers.sentinel_tls.enabled);
    BOOST_TEST(servers.sentinel_tls.ca_file.empty());
    auto const sentinels = parse_url("redis-sentinel://h/n?ca_file=a&sentinel_tls=on");
    BOOST_TEST(!sentinels.tls.enabled);
    BOOST_TEST(sentinels.tls.ca_file.empty());
    BOOST_TEST(sentinels.sentinel_tls.ca_file == "a");
    auto const own = parse_url(
        "rediss-sentinel://h/n?certificate_file=c&private_key_file=k&sentinel_ca_file=b&"
        "sentinel_certificate_file=d&sentinel_private_key_file=l&ca_file=a"
    );
    BOOST_TEST(own.tls.ca_file == "a");
    BOOST_TEST(own.tls.certificate_file == "c");
    BOOST_TEST(own.tls.private_key_file == "k");
    BOOST_TEST(own.sentinel_tls.ca_file == "b");
    BOOST_TEST(own.sentinel_tls.certificate_file == "d");
    BOOST_TEST(own.sentinel_tls.private_key_file == "l");
    auto const shared = parse_url("rediss-sentinel://h/n?certificate_file=c&private_key_file=k");
    BOOST_TEST(shared.sentinel_tls.certificate_file == "c");
    BOOST_TEST(shared.sentinel_tls.private_key_file == "k");
    auto const named = parse_url("rediss-sentinel://h/n?tls_host_name=a&certificate_file=c");
    BOOST_TEST(named.tls.host_name == "a");
    BOOST_TEST(named.sentinel_tls.host_name.empty());
    auto const other = parse_url(
        "rediss-sentinel://h/n?tls_host_name=a&sentinel_tls_host_name=b&certificate_file=c"
    );
    BOOST_TEST(other.tls.host_name == "a");
    BOOST_TEST(other.sentinel_tls.host_name == "b");
    BOOST_TEST(other.sentinel_tls.certificate_file == "c");
}

BOOST_AUTO_TEST_CASE(a_bad_url_is_refused_by_the_part_that_is_wrong_and_never_by_its_password) {
    struct {
        std::string_view url, part;
    } const table[] = {
        {"", "scheme"},
        {"s3cret", "scheme"},
        {"localhost:6379", "scheme"},
        {"http://:s3cret@h", "scheme"},
        {"redis-cluster-sentinel://:s3cret@h", "scheme"},
        {"redis-sentinel://:s3cret@h", "name"},
        {"redis-sentinel://:s3cret@h/", "name"},
        {"redis-sentinel://:s3cret@h?client_name=x", "name"},
        {"redis-sentinel://:s3cret@h//1", "name"},
        {"redis-sentinel://:s3cret@h/n%00", "name"},
        {"redis-sentinel://:s3cret@h/n/db", "database"},
        {"redis-sentinel://:s3cret@h/n/1/2", "database"},
        {"redis-sentinel://:s3cret@/n", "host"},
        {"redis-sentinel://:s3cret@h1,/n", "host"},
        {"redis-sentinel://:s3cret@,h1/n", "host"},
        {"redis-sentinel://:s3cret@h1,,h2/n", "host"},
        {"redis-sentinel://:s3cret@h%zz/n", "host"},
        {"redis-sentinel://:s3cret@::1/n", "host"},
        {"redis-sentinel://:s3cret@h1,h2:0/n", "port"},
        {"redis-sentinel://:s3cret@h1:1,h2:65536/n", "port"},
        {"redis-sentinel://:s3cret@h1:x,h2/n", "port"},
        {"redis-sentinel://:s3@cret@h/n", "syntax"},
        {"redis-sentinel://alice@h/n", "password"},
        {"redis-sentinel://:s3/cret@h/n", ""},
        {"redis-sentinel://h/n?sentinel_username=bob", "query: sentinel_password is missing"},
        {"redis-sentinel://h/n?sentinel_tls=s3cret", "query: sentinel_tls"},
        {"redis-sentinel://h/n?sentinel_password=s3&cret", "query: unknown parameter"},
        {"redis-sentinel://h/n?sentinel_password=s3%cret", "query"},
        {"redis-sentinel://h/n?ca_file=x", "query: unknown parameter \"ca_file\""},
        {"redis-sentinel://h/n?sentinel_ca_file=x", "query: unknown parameter"},
        {"redis://h?tls_host_name=x", "query: unknown parameter \"tls_host_name\""},
        {"redis-sentinel://h/n?sentinel_tls=on&tls_host_name=x", "query: unknown parameter"},
        {"rediss-sentinel://h/n?sentinel_tls=off&sentinel_tls_host_name=x", "query"},
        {"rediss://h?tls_host_name=", "query: tls_host_name must be one name"},
        {"rediss://h?tls_host_name", "query: tls_host_name must be one name"},
        {"rediss://h?tls_host_name=a%20b", "query: tls_host_name must be one name"},
        {"rediss://h?tls_host_name=%0Aa", "query: tls_host_name must be one name"},
        {"rediss://h?tls_host_name=a&tls_host_name=a", "query: tls_host_name must be one name"},
        {"rediss-cluster://h?tls_host_name=", "query: tls_host_name must be one name"},
        {"rediss-sentinel://h/n?tls_host_name=", "query: tls_host_name must be one name"},
        {"rediss-sentinel://h/n?sentinel_tls_host_name=", "query: tls_host_name must be one name"},
        {"rediss-sentinel://h/n?sentinel_tls_host_name=a&sentinel_tls_host_name=b",
         "query: tls_host_name must be one name"},
        {"rediss-sentinel://h/n?sentinel_tls=off&sentinel_ca_file=x", "query: unknown parameter"},
        {"redis-sentinel://h/n?db=1", "query: unknown parameter \"db\""},
        {"redis-sentinel://h/n?sentinel_db=1", "query: unknown parameter \"sentinel_db\""},
        {"redis:/h", "scheme"},
        {"redis://", "host"},
        {"redis://:s3cret@", "host"},
        {"redis://:s3cret@:6379", "host"},
        {"redis://:s3cret@[]", "host"},
        {"redis://:s3cret@[]:6379", "host"},
        {"redis://:s3cret@h:", "port"},
        {"redis://:s3cret@h:0", "port"},
        {"redis://:s3cret@h:65536", "port"},
        {"redis://:s3cret@h:-1", "port"},
        {"redis://:s3cret@h:99999999999999999999", "port"},
        {"redis://:s3cret@h:http", "port"},
        {"redis://:s3cret@h/-1", "database"},
        {"redis://:s3cret@h/db", "database"},
        {"redis://:s3cret@h/1/2", "database"},
        {"redis://:s3cret@h/99999999999999999999", "database"},
        {"redis://alice@h", "password"},
        {"redis://alice:@h", "password"},
        {"redis://:s3cret%@h", "password"},
        {"redis://:s3cret%4@h", "password"},
        {"redis://:s3cret%zz@h", "password"},
        {"redis://:s3cret%00@h", "password"},
        {"redis://al%ice:s3cret@h", "user"},
        {"redis://:s3cret@h?timeout=1", "query: unknown parameter \"timeout\""},
        {"redis://:s3cret@h?client_name=x&retries=s3cret", "query: unknown parameter \"retries\""},
        {"redis://h:1?s3=cret@host", "query: unknown parameter"},
        {"redis://h:1?s3cret@host", "query: unknown parameter"},
        {"redis://h?s3%20=cret", "query: unknown parameter"},
        {"redis://:s3cret@h?db=1", "query: unknown parameter \"db\""},
        {"redis://:s3cret@h1,h2", "host: only one server"},
        {"redis://h1:6379,h2:6379", "host: only one server"},
        {"unix:///run/redis.sock?db=x", "database"},
        {"unix:///run/redis.sock?db=-1", "database"},
        {"redis://:s3cret@h?client_name=%", "query"},
        {"redis://:s3cret@h?ca_file=x", "query"},
        {"redis://:s3cret@h?certificate_file=x", "query"},
        {"redis://:s3cret@h#fragment", "fragment"},
        {"redis://:s3@cret@h", "syntax"},
        {"redis://:s3cret @h", "syntax"},
        {"redis://:s3cret@h\n", "syntax"},
        {"redis://:s3cret@h\0"sv, "syntax"},
        {"redis://:s3cret@[::1", ""},
        {"redis://:s3cret@::1", "host"},
        {"redis://:s3cret@h:1:2", "host"},
        {"redis://:s3cret@h]", "host: a bracket is missing"},
        {"redis://:s3/cret@h", ""},
        {"redis://:s3?cret@h", ""},
        {"redis://:s3#cret@h", ""},
        {"unix://", "path"},
        {"unix:///", "path"},
        {"unix://:s3cret@", "path"},
        {"unix://host/run/redis.sock", "host"},
        {"unix://alice@/run/redis.sock", "password"},
        {"unix://:s3cret@/run/redis.sock?ca_file=x", "query"},
        {"unix:///run/%00", "path"},
    };
    for (auto const& row : table) {
        BOOST_TEST_CONTEXT(row.url) {
            BOOST_CHECK_EXCEPTION(
                static_cast<void>(parse_url(row.url)),
                std::invalid_argument,
                [&](auto const& error) {
                    std::string_view const what = error.what();
                    BOOST_TEST_MESSAGE(what);
                    return contains(what, "URL: " + std::string{row.part}) &&
                           !contains(what, "s3") && !contains(what, "cret");
                }
            );
        }
    }
}

BOOST_AUTO_TEST_CASE(a_cluster_is_named_by_some_of_its_nodes) {
    using kind = holdfast::cluster_channel_kind;
    auto const plain = parse_url("redis-cluster://h1:7000,h2,[::1]:7001");
    BOOST_REQUIRE(plain.cluster_nodes.size() == 3U);
    BOOST_TEST((plain.cluster_nodes[0] == config::address{"h1", 7000}));
    BOOST_TEST((plain.cluster_nodes[1] == config::address{"h2", 6379}));
    BOOST_TEST((plain.cluster_nodes[2] == config::address{"::1", 7001}));
    BOOST_TEST(!plain.tls.enabled);
    BOOST_TEST((plain.cluster_channels == kind::automatic));
    auto const full = parse_url(
        "rediss-cluster://alice:s3cret%2C@h1:7000,h2:7000/0?client_name=x&channels=plain&ca_file=/"
        "ca"
    );
    BOOST_TEST(full.tls.enabled);
    BOOST_TEST(full.tls.ca_file == "/ca");
    BOOST_TEST(full.username == "alice");
    BOOST_TEST(full.password == "s3cret,");
    BOOST_TEST(full.cluster_nodes.size() == 2U);
    BOOST_TEST(full.client_name == "x");
    BOOST_TEST((full.cluster_channels == kind::plain));
    auto const sharded = parse_url("redis-cluster://h1?channels=sharded");
    BOOST_TEST((sharded.cluster_channels == kind::sharded));
}

BOOST_AUTO_TEST_CASE(a_bad_url_of_a_cluster_is_refused_by_the_part_that_is_wrong) {
    struct {
        std::string url;
        std::string part;
    } const wrong[] = {
        {"redis-cluster://", "host"},
        {"redis-cluster://h1,", "host"},
        {"redis-cluster://h1:0", "port"},
        {"redis-cluster://h1:70000,h2", "port"},
        {"redis-cluster://h1/1", "database"},
        {"redis-cluster://h1?channels=some", "channels"},
        {"redis://h1?channels=plain", "query"},
        {"redis-cluster://h1?ca_file=/ca", "query"},
        {"redis-cluster://alice@h1", "password"},
        {"redis-cluster://a:s3cret@b@h1", "syntax"},
    };
    for (auto const& each : wrong) {
        BOOST_CHECK_EXCEPTION(
            (void)parse_url(each.url),
            std::invalid_argument,
            [&](std::invalid_argument const& e) {
                return contains(e.what(), each.part) && !contains(e.what(), "s3cret");
            }
        );
    }
}

BOOST_AUTO_TEST_SUITE_END()
