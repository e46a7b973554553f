"""The page in the browser, served from this machine: `mine` is what the user has, `server` hands out both."""
