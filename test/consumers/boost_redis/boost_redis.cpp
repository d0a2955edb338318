// As the documentation of Boost.Redis says: in one file of the program.
#include <boost/redis/src.hpp>
