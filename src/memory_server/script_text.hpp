#ifndef HOLDFAST_MEMORY_SERVER_SCRIPT_TEXT_HPP
#define HOLDFAST_MEMORY_SERVER_SCRIPT_TEXT_HPP

#include <string>

namespace holdfast::memory {

/// A script that has been compiled once.
struct script_text {
    std::string text;
    std::string sha1;
};

}  // namespace holdfast::memory

#endif
