# shellcheck shell=bash
# ./dev bench --peers: holdfast beside other libraries. Read by ./dev, whose functions it calls.

peers_tools=("${interop_tools[@]}" python3=python3 go=golang-go)

# bench --peers [ARGS]: ARGS go to run.py.
bench_peers() {
    install_missing "${peers_tools[@]}"
    build release holdfast_peer
    timed "building the workers for other libraries" 60 bench/peers/build
    timed "comparing with other libraries" 600 python3 bench/peers/run.py "$@"
}
