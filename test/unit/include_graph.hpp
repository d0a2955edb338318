#ifndef HOLDFAST_TEST_UNIT_INCLUDE_GRAPH_HPP
#define HOLDFAST_TEST_UNIT_INCLUDE_GRAPH_HPP

#include "unit/source_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::test {

/// What a line of code includes, as it is written between quotes or angle brackets; empty if it is
/// no include.
inline std::string_view included_by(std::string_view line) {
    auto const skip_blanks = [&line] {
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    };
    auto const skip = [&line](std::string_view word) {
        bool const there = line.starts_with(word);
        line.remove_prefix(there ? word.size() : 0);
        return there;
    };
    skip_blanks();
    if (!skip("#")) {
        return {};
    }
    skip_blanks();
    if (!skip("include")) {
        return {};
    }
    skip_blanks();
    if (!skip("\"") && !skip("<")) {
        return {};
    }
    auto const end = line.find_first_of("\">");
    return end == line.npos ? std::string_view{} : line.substr(0, end);
}

/// Which of a tree's files include which. Each file is read once.
class include_graph {
public:
    struct include {
        std::string name;                   ///< as it is written
        std::optional<std::size_t> target;  ///< the number of the file; none if it is another's
    };
    struct node {
        source_file file;
        std::vector<include> includes;
    };

    /// The includes of `src/a/b.hpp` and `include/a/b.hpp` are written `a/b.hpp`.
    explicit include_graph(std::vector<source_file> files) {
        std::unordered_map<std::string, std::size_t> numbers;
        for (std::size_t i = 0; i < files.size(); ++i) {
            auto const& path = files[i].path;
            numbers.emplace(path.substr(path.find('/') + 1), i);
        }
        for (auto& file : files) {
            std::vector<include> all;
            std::string_view left{file.text};
            while (!left.empty()) {
                auto const end = std::min(left.find('\n'), left.size());
                if (auto const name = included_by(left.substr(0, end)); !name.empty()) {
                    auto const found = numbers.find(std::string{name});
                    all.push_back({std::string{name}, {}});
                    if (found != numbers.end()) {
                        all.back().target = found->second;
                    }
                }
                left.remove_prefix(std::min(end + 1, left.size()));
            }
            nodes_.push_back({std::move(file), std::move(all)});
        }
    }

    std::vector<node> const& nodes() const { return nodes_; }

    /// All includes of the file and of those that it reaches through its includes.
    std::vector<include const*> reached_from(node const& start) const {
        std::vector<include const*> reached;
        std::vector<bool> seen(nodes_.size());
        std::vector<node const*> open{&start};
        while (!open.empty()) {
            auto const& next = *open.back();
            open.pop_back();
            for (auto const& each : next.includes) {
                reached.push_back(&each);
                if (each.target && !seen[*each.target]) {
                    seen[*each.target] = true;
                    open.push_back(&nodes_[*each.target]);
                }
            }
        }
        return reached;
    }

private:
    std::vector<node> nodes_;
};

}  // namespace holdfast::test

#endif
