#include "main.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <utility>

int main(int argc, char** argv) try {
    auto config = holdfast::parse_url(argc > 1 ? argv[argc - 1] : "redis://127.0.0.1");
    run(co_main(std::move(config)));
} catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
