// Gives a shared precompiled header a target to belong to.
