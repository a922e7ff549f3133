"""The sentences of a request that is turned away."""

NO_UPLOADS = "This page accepts no files."
NOT_HERE = "Not found."
BODY_TOO_LONG = "This request is larger than the limit of {limit} KB."
HEAD_TOO_LONG = "The URL and headers of this request are longer than {limit} KB."
BUSY = "{n} requests are already waiting. Please try again in a few seconds."
ENOUGH_OF_ONE = (
    "{n} of your requests are already waiting, the most that one page, or the programs at one "
    "address, may have. Please try again when one of them is answered."
)
UNHEARD = (
    "Nobody listened for this answer within {limit} seconds, so it was not computed. Please ask "
    "again, and open the stream at once."
)
NO_QUESTION = "Nothing here answers this request. Please reload the page."
NO_ANSWER = "No answer is pending here. Please ask again."
NO_JSON = "This request cannot be read: it must be JSON, as /gradio_api/info describes."
CLOSING = "The server is stopping or restarting. Please try again in a minute."
