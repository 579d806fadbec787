"""Problems that long rules decide: airline fees, income tax, contracts of a sports league."""
