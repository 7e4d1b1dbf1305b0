// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface CreateWalletRequest {
  'walletId'?: (string);
}

export interface CreateWalletRequest__Output {
  'walletId': (string);
}
