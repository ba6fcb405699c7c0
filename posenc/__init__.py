"""What the notebooks grow into; each module names the notebook it is from.

Importing one module imports no other, so that `posenc.check` needs no Keras.
"""
