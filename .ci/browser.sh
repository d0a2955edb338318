# shellcheck shell=bash
# ./dev docs --browser: reads the documentation's site in a browser. Read by ./dev, whose functions it
# calls.

browser_tools=(chromium-headless-shell=chromium-headless-shell
    'lib/python3*/ensurepip/__init__.py=python3-venv')

# browse FOLDER
browse() {
    local python=build/browser-venv/bin/python
    install_missing "${browser_tools[@]}"
    if ! "$python" -c 'import playwright' 2>/dev/null; then
        say "installing Playwright into build/browser-venv"
        python3 -m venv --clear build/browser-venv
        "$python" -m pip install -q 'playwright>=1.40,<2' >&2
    fi
    timed "reading the site in a browser" 90 "$python" test/packaging/reference/browse_site.py "$1"
}
