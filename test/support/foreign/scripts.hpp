#ifndef HOLDFAST_TEST_SUPPORT_FOREIGN_SCRIPTS_HPP
#define HOLDFAST_TEST_SUPPORT_FOREIGN_SCRIPTS_HPP

#include <string>

namespace holdfast::test {

struct foreign_script {
    std::string text;
    std::string sha1;
};

}  // namespace holdfast::test

/// The scripts of clients of another make. They are not the library's, and stay as they are
/// whatever becomes of those.
namespace holdfast::test::foreign_scripts {

foreign_script const& first_version_acquire();
foreign_script const& first_version_release();
foreign_script const& first_version_renew();

foreign_script const& redisson_acquire();
foreign_script const& redisson_fenced_acquire();
foreign_script const& redisson_release();
foreign_script const& redisson_renew();

}  // namespace holdfast::test::foreign_scripts

#endif
