// The one place where Boost.Redis is compiled. Nothing else may share this file: a program that
// includes src.hpp itself would then have the rest defined twice when it links this library.
#include <boost/redis/src.hpp>
