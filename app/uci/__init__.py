"""UCI: any player of ours as a UCI engine, for programs that speak that protocol to engines."""
