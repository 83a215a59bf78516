"""What leaves the process: answers as JSON, digests of questions, and the names under which both are written.  Runs no code of a file."""
