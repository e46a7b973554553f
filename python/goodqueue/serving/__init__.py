"""The page in the browser, served from this machine: `mine` has the user's files, `server` serves both."""
