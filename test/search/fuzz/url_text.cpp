#include "fuzz/url_text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace holdfast::fuzz {

namespace {

std::string percent_encoded(std::string_view text, std::string_view as_is = {}) {
    std::string result;
    for (char const c : text) {
        bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || as_is.find(c) != std::string_view::npos;
        if (plain) {
            result += c;
        } else {
            result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return result;
}

std::string tls_parameters(tls_options const& tls, std::string const& prefix) {
    return "&" + prefix + "ca_file=" + percent_encoded(tls.ca_file) + "&" + prefix +
           "certificate_file=" + percent_encoded(tls.certificate_file) + "&" + prefix +
           "private_key_file=" + percent_encoded(tls.private_key_file) +
           (tls.host_name.empty()
                ? ""
                : "&" + prefix + "tls_host_name=" + percent_encoded(tls.host_name));
}

std::string list_of(std::vector<config::address> const& all) {
    std::string hosts;
    for (auto const& one : all) {
        hosts += hosts.empty() ? "" : ",";
        // What has a colon in it stood in brackets.
        auto const host = percent_encoded(one.host, ":");
        bool const six = host.find(':') != std::string::npos;
        hosts += fmt::format("{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", one.port);
    }
    return hosts;
}

std::string url_of_cluster(config const& c, std::string const& user) {
    auto const kind = c.cluster_channels == cluster_channel_kind::sharded ? "sharded"
                      : c.cluster_channels == cluster_channel_kind::plain ? "plain"
                                                                          : "automatic";
    return fmt::format(
               "{}://{}{}/0?client_name={}&channels={}",
               c.tls.enabled ? "rediss-cluster" : "redis-cluster",
               user,
               list_of(c.cluster_nodes),
               percent_encoded(c.client_name),
               kind
           ) +
           (c.tls.enabled ? tls_parameters(c.tls, "") : "");
}

std::string url_with_sentinels(config const& c, std::string const& user) {
    auto url = fmt::format(
        "{}://{}{}/{}/{}?client_name={}&sentinel_tls={}",
        c.tls.enabled ? "rediss-sentinel" : "redis-sentinel",
        user,
        list_of(c.sentinels),
        percent_encoded(c.primary_name),
        c.database,
        percent_encoded(c.client_name),
        c.sentinel_tls.enabled ? "on" : "off"
    );
    if (!c.sentinel_password.empty()) {
        url += "&sentinel_username=" + percent_encoded(c.sentinel_username) +
               "&sentinel_password=" + percent_encoded(c.sentinel_password);
    }
    return url + (c.tls.enabled ? tls_parameters(c.tls, "") : "") +
           (c.sentinel_tls.enabled ? tls_parameters(c.sentinel_tls, "sentinel_") : "");
}

}  // namespace

std::string url_of(config const& c) {
    std::string user;
    if (!c.password.empty()) {
        user = percent_encoded(c.username) + ":" + percent_encoded(c.password) + "@";
    }
    if (!c.sentinels.empty()) {
        return url_with_sentinels(c, user);
    }
    if (!c.cluster_nodes.empty()) {
        return url_of_cluster(c, user);
    }
    auto url = c.unix_socket.empty()
                   ? fmt::format(
                         "{}://{}{}:{}/{}",
                         c.tls.enabled ? "rediss" : "redis",
                         user,
                         percent_encoded(c.host),
                         c.port,
                         c.database
                     )
                   : fmt::format("unix://{}{}", user, percent_encoded(c.unix_socket, "/"));
    url += "?client_name=" + percent_encoded(c.client_name);
    if (!c.unix_socket.empty()) {
        url += fmt::format("&db={}", c.database);
    }
    if (c.tls.enabled) {
        url += tls_parameters(c.tls, "");
    }
    return url;
}

}  // namespace holdfast::fuzz
