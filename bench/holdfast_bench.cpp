// Asks how fast the library is, question by question, each beside its floor in the same run.
#include "jobs/jobs.hpp"
#include "questions/questions.hpp"
#include "support/one_cpu.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <optional>
#include <string>

namespace {

using namespace holdfast::bench;

struct wishes {
    bool quick = false;
    bool unpinned = false;
    int fairness_seconds = 20;
    std::string json;
    std::vector<std::string> only;
};

std::vector<question> chosen(wishes const& w) {
    std::vector<question> result;
    for (auto const& q : all_questions) {
        if (w.only.empty() || std::find(w.only.begin(), w.only.end(), q.name) != w.only.end()) {
            result.push_back(q);
        }
    }
    return result;
}

// A missed budget is an answer; only a question without an answer makes the run fail.
int ask(wishes const& w) {
    environment env{w.quick, w.quick ? 1 : w.fairness_seconds};
    figures answers;
    std::vector<std::string> failures;
    auto const questions = chosen(w);
    for (std::size_t i = 0; i < questions.size(); ++i) {
        auto const& q = questions[i];
        env.begin(q.name, i + 1, questions.size());
        try {
            std::optional<one_cpu> pinned;
            if (q.on == cpus::one && !w.unpinned) {
                pinned.emplace(env.server_pid());
            }
            for (auto& f : q.ask(env)) {
                if (pinned) {
                    f.note += f.note.empty() ? "one CPU" : ", one CPU";
                }
                answers.push_back(std::move(f));
            }
        } catch (std::exception const& e) {
            failures.push_back(fmt::format("{}: {}", q.name, e.what()));
        }
        env.end();
    }

    if (w.unpinned) {
        fmt::print("No question keeps server and clients on one CPU.\n");
    } else {
        fmt::print(
            "\"One CPU\": server and clients were kept on CPU {}; --unpinned leaves them free.\n",
            one_cpu::chosen()
        );
    }
    fmt::print("question | ours | floor | median ratio | budget | verdict\n");
    for (auto const& f : answers) {
        fmt::print("{}\n", to_line(f));
    }
    for (auto const& failure : failures) {
        fmt::print("failed: {}\n", failure);
    }
    if (!w.json.empty()) {
        std::ofstream out{w.json};
        out << to_json(answers);
        if (!out.flush()) {
            fmt::print(stderr, "cannot write {}\n", w.json);
            return 1;
        }
    }
    return failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    wishes w;
    std::vector<std::string> names;
    for (auto const& q : all_questions) {
        names.emplace_back(q.name);
    }
    CLI::App app{"Measures holdfast against bare Boost.Redis, on a private server."};
    app.add_flag("--quick", w.quick, "Few repetitions: shows that everything runs, not how fast");
    app.add_flag(
        "--unpinned",
        w.unpinned,
        "Do not keep server and clients on one CPU for latencies"
    );
    app.add_option(
           "--fairness-seconds",
           w.fairness_seconds,
           "How long clients of two kinds compete in `fairness`"
    )
        ->check(CLI::Range(1, 3600))
        ->capture_default_str();
    app.add_option("--json", w.json, "Write the figures to this file, too")->type_name("FILE");
    app.add_option("--only", w.only, "Ask only these questions")
        ->type_name("NAME")
        ->check(CLI::IsMember(names));
    add_jobs(app);
    CLI11_PARSE(app, argc, argv);
    return app.get_subcommands().empty() ? ask(w) : 0;
} catch (std::exception const& e) {
    fmt::print(stderr, "holdfast_bench: {}\n", e.what());
    return 1;
}
