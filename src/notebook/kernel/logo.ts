/** The kernel's picture in Jupyter's launcher: a count that drops, and the moment it does. */
export const logoSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img"><title>probelab</title><rect width="64" height="64" rx="12" fill="#0a5cad"/><path d="M10 22h10l8 6 8 2 8 14h10" fill="none" stroke="#fff" stroke-width="5" stroke-linejoin="round" stroke-linecap="round"/><circle cx="36" cy="30" r="6" fill="#ffb000" stroke="#0a5cad" stroke-width="2"/></svg>
`;

/** The same as PNG, 32 pixels wide, base64. */
export const logo32 =
  "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAYAAABzenr0AAACX0lEQVR4nO2Xv2sTYRjHv2/S1HpBDLSp4NBIcKkFk9" +
  "rJHw1aBDOIoHVMm7hIB4d6g0L1H9DBBmsHFaXWW/wRHSzYDBJppw7BXkFdKuUqCFqrB3pRU+35vEdjehr1Yi4Xh34g" +
  "ue/zZHg/3HP3kpdhFd7ee3EsIwHoYR3wwWYY9Gm4XElt9MgNKg0YfeBL3Pctff2W0cHCVFYdLuKpc+9TRw6rzOnFC3" +
  "AJTTrazrw9qX5dxyD1HIcxHGNCT2oOOragBvC7wIRYip632rEm8P8JBPwCWhoFSmbmF3NQFnKU7MUkwBd/diFKqTSn" +
  "JBnD6ReU7KMsAc6D7Cv0XclCzS1RVTkmAQ6XCDSZR7BR8OB8LISWlb6yoKHvahYzswoa3HlE/E+pCzx6E8Lilw2UrP" +
  "OLwO/wkcTl4x042LGZKuD9xzz2n7mFbFcvVUWCY9fw+rOPkjUsCxQ4cWArzsW243pmDk8mkhgKX6RukfiUiLsvd1Oy" +
  "RtkCHD6mYLMXgU93MLxjiDpF4lMnSWAPJWv8k0CBxvoPmD+UwGqCY6M0Ai8la1QkwNnUoBoPobDOjcl37ZDEKHadzd" +
  "Av1qhYoEBXWzNuizuxvt6N09IMLqVnqft3bBPgPB+MGq+qquXRJqYt7RW2CkRam/BwIEIJkCYUSJMKpSKltnNbBTjj" +
  "A53obPVTKs02cdwkYbsAf0X/tJ1XXYDDJX7ezjnKWwdGUC5rAswbS02TQYiy4zBArv3BhK6oxV2ghWVN6g7Tlf5sGO" +
  "fD5cdOSdCisqfOtdc4nFL9AxpHAjr6qyVCi8n0ldRudo9ghe821vFdj4wH1wAAAABJRU5ErkJggg==";

/** The same as PNG, 64 pixels wide, base64. */
export const logo64 =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYAAACqaXHeAAAEfUlEQVR4nO2bT2wbRRSH32zsHmyQLZEcoFKSSgiRlJ" +
  "qgXFokp5E4kEigNEWiVHXAPVAuHAKXSgmiLSKROKVIvbQXAiRSQbhOlEPSQ9XWPrQHIloXYg6VGhcBhxRhg9xKibPD" +
  "721YA/b6TyovXe/uJ0V5s7f3zbw3OyuPoCoEo/HOjQINSVL7SVAPSeqkJkCQvCFJrApSrng9NJ+dHl6lCgj8laElvq" +
  "mekJKiZAOEoGlvi3LKSESZAP9ILIqZnpLwgKFtQKJZhZSjf84Mz2FYBM//gZPHrH+G0LZgNRzNf/naNP1NUYATktdp" +
  "IWVYXwmaAH803iML6ncIHQGSzno9ygvcExBDQOTCZUmynxyEIPF5fuZgVDwWiferpF7GM8exw6PsEpj9acz+Wxg7Dj" +
  "TE9yAg9ru02ZZXN0LOC18khvydCb8xOloA4wpwBbgCXAGuAPx3LK6AWgKCPi8dCbdTwLcDo9rk7q/TbPIuZe9vYGR9" +
  "qgrg5BfHwhTq2N6bcja/Toc/vU6J9D2MrE1VAe++/DR9EgkhejgmLqRpMp5GZF1MFcAk0mt0+PR1y5ZEVQFcAkvjYd" +
  "rTvr0SKMXKJVFVAMMSIuEOCvi9GFUn/GwrhbvaEBljxZKoKWC7jB/sorHhLkTGcEkcn01RKpPDaItw2w801v01hYJ3" +
  "MCJKZXfR5MrrlFzbjZG5NFwA09fVSudH92HrNF41XBJ7xy/RT7890BIf7/4KT8uZWDmkiTATUwQwXDrnR/calsSZpd" +
  "vaKuCZX9r/IZ5UZuDqR6auBNME6BiVxMBEgpI/3qPF/Seor+17PKlMYu05Grx6CpE5mC6AKS2Jne8saNviz0NvUtCb" +
  "x5PKZDf8tHP+C0Tm8L8IYLgkeDcJQ8bbZ7+lPx4UnCXACMeUQCX60AQXazTBQTTBRDM3wVrwFshboRG8BfJWaCaPXA" +
  "DDK2EMIvYEV4m5le1E8oeKMx/BcXwGR2wzsISASrS3+ujssV4KtQdo9/sXtZ2j0VhOQIsi6MVnnqBXep/SZj7o3/oQ" +
  "M5vM0LFzy4gai+UEMOcw60ewZZay74NL/zlDNAJLCuB3hpWpgeKLkw4fpAYnk4gahyUFMEav0Mwbp6/RwvKviBqDZQ" +
  "UwaawCboT/JrOWp240xEZhaQGv9j6pnSFKWVj+pWYvqPfrtKUFMEv4Km10pK6HVCar9YxqEiwvINQRoGsfv4To4Tg+" +
  "k6IzF28jMsbyAphK22I92EJApW2xFrfuZvHxpclLQIcl8PeEer5OM7n8Bs4PmarJM00jwCxcAa4AV4ArwNkC/JHYDR" +
  "h4HrHjEEQ3hW/kmzmSYghj58E/lvaPxEalpCkMHYf2c3m+IrdeUO9g7Di0CxP4z1dmHHdponhlBvHWRcmCys0wgKHt" +
  "QdI5r0fpKV6aYh6PxA9skhpHaHvKrs3poCHa/u6gqHRxUodXgkoqeoK9ygGJ5hRSovrM6+B5OVs9QZ60S2Pkhuf1iJ" +
  "Nc81SCoQAdTcSmegAi+oUUnbJJ3hiR1E0p5CoSv+JtUeaMEtf5C5em+BjH5LtjAAAAAElFTkSuQmCC";
