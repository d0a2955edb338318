# Turns the code blocks of a page into calls of the functions in `follow`. The line before a block says
# what it is: `FILE`: a file, Add to `FILE`: what comes at its end, In `FILE` replace, and by: a change
# of it. A `sh` block is commands. A `text` block is what the commands before it print.
BEGIN { end = "END_OF_BLOCK" }

/^```/ && inside {
    print language == "sh" ? "} >\"$said\"" : end
    if (verb == "by") print "replace " file
    inside = 0
    verb = ""
    next
}

inside { print; next }

/^```/ {
    inside = 1
    language = substr($0, 4)
    print "at " FILENAME ":" NR
    if (language == "sh") print "{"
    else if (language == "text") print "compare <<'" end "'"
    else if (verb == "make") print "cat >" file " <<'" end "'"
    else if (verb == "add") print "cat >>" file " <<'" end "'"
    else if (verb == "replace" || verb == "by") print "cat >" verb " <<'" end "'"
    else { print "exit 1"; exit }
    next
}

/`.*`/ { split($0, parts, "`") }
/^`[^`]+`:$/ { file = parts[2]; verb = "make" }
/^Add to `[^`]+`:$/ { file = parts[2]; verb = "add" }
/[Ii]n `[^`]+` replace$/ { file = parts[2]; verb = "replace" }
/^by$/ { verb = "by" }
