"""How is a checkpoint of another form written so that every library reads it alike?"""
