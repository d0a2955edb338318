#ifndef HOLDFAST_TEST_FIDELITY_COMMAND_FORMS_HPP
#define HOLDFAST_TEST_FIDELITY_COMMAND_FORMS_HPP

#include <string_view>

namespace holdfast::test {

// $k key, $f field or member, $v content, $n integer, $t ms, $e an instant in ms,
// $d score, $r bound of a range of scores, $i index, $c small count
inline constexpr std::string_view forms[] = {
    "SET $k $v",
    "SET $k $v PX $t",
    "SET $k $v NX",
    "SET $k $v XX",
    "SET $k $v NX PX $t",
    "SET $k $v XX KEEPTTL",
    "SET $k $v KEEPTTL",
    "SET $k $v KEEPTTL PX $t",
    "SET $k $v NX XX",
    "SET $k $v PX",
    "GET $k",
    "INCR $k",
    "INCRBY $k $n",
    "DEL $k",
    "DEL $k $k",
    "EXISTS $k $k",
    "PEXPIRE $k $t",
    "PEXPIREAT $k $e",
    "PTTL $k",
    "PERSIST $k",
    "HSET $k $f $v",
    "HSET $k $f $v $f $v",
    "HDEL $k $f",
    "HDEL $k $f $f $f",
    "HEXISTS $k $f",
    "HKEYS $k",
    "HGETALL $k",
    "RPUSH $k $v $f",
    "LLEN $k",
    "LINDEX $k $i",
    "LRANGE $k $i $i",
    "LREM $k $i $v",
    "ZADD $k $d $f",
    "ZADD $k $d $f $d $f",
    "ZADD $k NX $d $f",
    "ZADD $k XX $d $f",
    "ZADD $k NX XX $d $f",
    "ZREM $k $f $f",
    "ZSCORE $k $f",
    "ZCARD $k",
    "ZRANK $k $f",
    "ZCOUNT $k $r $r",
    "ZRANGE $k $i $i",
    "ZRANGE $k $i $i WITHSCORES",
    "ZRANGEBYSCORE $k $r $r",
    "ZRANGEBYSCORE $k $r $r LIMIT $c $i",
    "PUBLISH $f $v",
    "PING",
    "PING $v",
    "TIME",
};

// What a script does with a command's reply; the command is in ARGV.
inline constexpr std::string_view programs[] = {
    "return redis.call(unpack(ARGV))",
    "return redis.pcall(unpack(ARGV))",
    "return {redis.pcall(unpack(ARGV))}",
    "local r = redis.pcall(unpack(ARGV))\n"
    "if type(r) == 'table' and r.err then\n"
    "    return {r.err, tostring(r.ignore_error_stats_update), tostring(r.source)}\n"
    "end\n"
    "return type(r)",
    "local ok, r = pcall(redis.call, unpack(ARGV))\nreturn {tostring(ok), r}",
    "local r = redis.call(unpack(ARGV))\nif type(r) == 'table' then return #r end\nreturn r",
};

}  // namespace holdfast::test

#endif
