"""The sentences of a request that is turned away; those of a limit stand in ``limits.py``."""

NO_UPLOADS = "This page accepts no files."
NOT_HERE = "Not found."
NO_QUESTION = "Nothing here answers this request. Please reload the page."
NO_ANSWER = "No answer is pending here. Please ask again."
NO_JSON = "This request cannot be read: it must be JSON, as /gradio_api/info describes."
CANCELLED = "This request was cancelled before it was answered."
FAILED = "Something went wrong on our side (error {mark})."
