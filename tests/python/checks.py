"""What the scripts count: the status is the number of things that are not so."""

mistakes = 0


def check(holds, what):
    global mistakes
    if not holds:
        print("not so:", what)
        mistakes += 1
