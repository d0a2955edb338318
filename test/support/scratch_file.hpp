#ifndef HOLDFAST_TEST_SUPPORT_SCRATCH_FILE_HPP
#define HOLDFAST_TEST_SUPPORT_SCRATCH_FILE_HPP

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace holdfast::test {

/// The path of a file that only this process and its children know. The file is removed in the end.
class scratch_file {
public:
    explicit scratch_file(std::string const& what)
        : path_{
              std::filesystem::temp_directory_path() /
              ("holdfast-" + what + "-" + std::to_string(::getpid()))
          } {}
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;
    ~scratch_file() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }

    [[nodiscard]] std::string const& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace holdfast::test

#endif
