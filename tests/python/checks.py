"""What the scripts count: the status is the number of things that are not so."""

mistakes = 0


def check(holds, what):
    global mistakes
    if not holds:
        print("not so:", what)
        mistakes += 1


def refuses(call, said):
    """It raises what says so."""
    try:
        call()
        check(False, f"refused: {said}")
    except Exception as error:
        check(said in str(error), f"{type(error).__name__}: {error}")
