// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface GetWalletRequest {
  'walletId'?: (string);
}

export interface GetWalletRequest__Output {
  'walletId': (string);
}
