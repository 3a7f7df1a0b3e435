"""What puts metacog into agents' frameworks; each module needs the framework that it is named after."""
