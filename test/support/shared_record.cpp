#include "support/shared_record.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::test {

namespace {

[[noreturn]] void fail_to(char const* what) {
    throw std::system_error{errno, std::generic_category(), what};
}

}  // namespace

shared_file::shared_file(std::string const& path, std::size_t size)
    : file_{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)},
      size_{size} {
    if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(size_)) != 0) {
        fail_to("opening the record");
    }
    data_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (data_ == MAP_FAILED) {
        fail_to("mmap");
    }
}

shared_file::~shared_file() {
    ::munmap(data_, size_);
    ::close(file_);
}

void shared_file::lock() const {
    while (::flock(file_, LOCK_EX) != 0) {
        if (errno != EINTR) {
            fail_to("flock");
        }
    }
}

void shared_file::unlock() const noexcept {
    ::flock(file_, LOCK_UN);
}

}  // namespace holdfast::test
