"""What the notebooks grow into; most modules name the notebook they are from.

Nothing here is imported before it is asked for, so that `posenc.check` needs
no Keras.
"""
