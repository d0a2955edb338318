#include "cli/rights.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

namespace {

using words = std::vector<std::string>;

// The reply's first word: `OOM`, `READONLY`.
std::string_view code_of(detail::raw_reply const& reply) {
    return std::string_view{reply.error}.substr(0, reply.error.find(' '));
}

std::string joined(words const& all, std::string_view between = " ") {
    std::string text;
    for (auto const& word : all) {
        text.append(text.empty() ? "" : between).append(word);
    }
    return text;
}

// The rules of what was refused that no other covers; they are noted as said.
words not_said(words& said, rights_group const& of) {
    words left;
    for (auto const& one : of.rights) {
        auto const all = one.rule.substr(0, 1) + "*";
        bool const covered = std::any_of(said.begin(), said.end(), [&](std::string const& by) {
            return by == one.rule || by == all;
        });
        if (one.refused && !covered) {
            left.push_back(one.rule);
            said.push_back(one.rule);
        }
    }
    return left;
}

}  // namespace

std::vector<finding> check_rights(std::vector<rights_group> const& groups, std::string_view user) {
    using need = rights_group::need;
    auto const whom = "the user \"" + std::string{user} + "\"";
    auto const grant = [user](words const& rules) {
        return "ACL SETUSER " + std::string{user} + " " + joined(rules);
    };
    std::vector<finding> found;
    words said;
    words kinds;
    words for_kinds;
    for (auto const& group : groups) {
        auto const rules = not_said(said, group);
        if (group.needed == need::kind) {
            if (std::ranges::any_of(group.rights, &right::refused)) {
                kinds.push_back(group.purpose);
                for_kinds.insert(for_kinds.end(), rules.begin(), rules.end());
            }
        } else if (!rules.empty()) {
            auto const lacks = whom + " lacks " + joined(rules);
            found.push_back(
                group.needed == need::always
                    ? fault("rights", group.purpose + " do not work: " + lacks, grant(rules))
                    : warning(
                          "rights",
                          group.purpose +
                              " is off, so that who waits is told and has to ask: " + lacks,
                          grant(rules)
                      )
            );
        }
    }
    if (!kinds.empty()) {
        auto const which = joined(kinds, ", ");
        found.push_back(warning(
            "rights",
            whom + " has not all rights for " + which,
            for_kinds.empty() ? "give it those that locks need"
                              : "if they are used: " + grant(for_kinds)
        ));
    }
    if (found.empty()) {
        found.push_back(good("rights", whom + " may do all that holdfast does"));
    }
    return found;
}

std::vector<finding> check_writes(std::vector<detail::raw_reply> const& replies) {
    struct refusal {
        std::string_view code;
        std::string_view text;
        std::string_view hint;
    };
    constexpr std::array known{
        refusal{"OOM", "the memory is full", "raise maxmemory, or find what fills it"},
        refusal{
            "READONLY",
            "the server is a replica",
            "name the primary in the URL, or use redis-sentinel://"
        },
        refusal{
            "MISCONF",
            "it cannot save its data",
            "look at the server's log: the disk may be full"
        },
        refusal{
            "NOREPLICAS",
            "fewer replicas are in time than min-replicas-to-write says",
            "bring the replicas back, or lower min-replicas-to-write"
        },
        refusal{"BUSY", "a script does not end", "SCRIPT KILL"},
        refusal{"LOADING", "it is still loading its data", "wait until it has"},
        refusal{
            "CLUSTERDOWN",
            "the cluster is down",
            "look at CLUSTER NODES, and run redis-cli --cluster check"
        },
        refusal{"MASTERDOWN", "it has lost its primary", "name the primary in the URL"},
    };
    for (auto const& one : known) {
        for (auto const& reply : replies) {
            if (reply.is_error && code_of(reply) == one.code) {
                return {fault(
                    "writes",
                    "the server refuses writes: " + std::string{one.text},
                    std::string{one.hint}
                )};
            }
        }
    }
    return {good("writes", "the server takes them")};
}

}  // namespace holdfast::cli
