# Prints a page as Doxygen is to read it: ./dev docs.
# It finds an image by its name, not by its way from the page.
s,\]\(\.\./images/,](,g
# What a page links to in the repository, outside the pages, is not in the site.
s,\[([^]]*)\]\((\.\./){3}[^)]*\),\1,g
