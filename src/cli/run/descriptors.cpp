#include "cli/run/descriptors.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>

namespace holdfast::cli {

namespace {

std::set<int> open_descriptors() {
    std::set<int> all;
    auto const close = [](DIR* folder) { ::closedir(folder); };
    std::unique_ptr<DIR, decltype(close)> const folder{::opendir("/proc/self/fd"), close};
    while (folder) {
        auto const* const entry = ::readdir(folder.get());
        if (entry == nullptr) {
            break;
        }
        std::string_view const name{entry->d_name};
        int number = -1;
        auto const read = std::from_chars(name.data(), name.data() + name.size(), number);
        if (read.ec == std::errc{} && number != ::dirfd(folder.get())) {
            all.insert(number);
        }
    }
    return all;
}

}  // namespace

inherited_descriptors::inherited_descriptors() : at_first_{open_descriptors()} {}

void inherited_descriptors::keep_the_others() const {
    for (int const number : open_descriptors()) {
        if (!at_first_.contains(number)) {
            auto const flags = ::fcntl(number, F_GETFD);
            static_cast<void>(::fcntl(number, F_SETFD, flags | FD_CLOEXEC));
        }
    }
}

}  // namespace holdfast::cli
